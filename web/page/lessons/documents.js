/** The documents that the lessons follow, by the names that the steps cite. */
export const DOCUMENTS = [
  ['000', 'Multi-Head Attention: Seeing the World from Multiple Perspectives'],
  ['001', 'Exercises 3.1 to 3.3'],
  ['002', '3.6 Extending Single-Head Attention to Multi-Head Attention'],
  ['003', 'Chapter 10: Attention Is All You Need'],
  ['004', 'Section 3.6 – Multi-Head Attention'],
  ['Olsson 2022', 'Olsson et al., In-context Learning and Induction Heads'],
];
