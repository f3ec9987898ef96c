declare global {
  interface HTMLElementTagNameMap {
    'attention-map': import('headwise/view').AttentionMap;
  }
}

export {};
