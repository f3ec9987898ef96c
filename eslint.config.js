import js from '@eslint/js';
import globals from 'globals';

const platform = (
  /** @type {string[]} */ files,
  /** @type {Record<string, boolean>[]} */ ...sets
) => ({
  files,
  languageOptions: { globals: Object.assign({}, ...sets) },
});

const ROOMS = ['compare', 'explore', 'train', 'lessons', 'bench'];

/** A folder of the page from which no room is imported: neither its modules nor its Workers. */
const keepsOut = (/** @type {string} */ folder, /** @type {string[]} */ rooms) => ({
  files: [`web/page/${folder}/**`],
  rules: {
    'no-restricted-syntax': [
      'error',
      {
        selector: `Literal[value=/^(\\.\\.\\u002f)+(${rooms.join('|')})\\u002f/]`,
        message: 'A room may not import another one: what two share stands in web/page/shared/.',
      },
    ],
  },
});

export default [
  {
    ignores: [
      'build/',
      'dist/',
      'web/headwise/types/',
      'web/headwise/inline/',
      'tests/fixtures/',
      'tests/embed/build/',
      'tests/embed/next/',
    ],
  },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2025, sourceType: 'module' },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      eqeqeq: 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-shadow': 'error',
      'no-implicit-globals': 'error',
      'object-shorthand': 'error',
      'no-unused-vars': [
        'error',
        {
          argsIgnorePattern: '^_',
          varsIgnorePattern: '^_',
          destructuredArrayIgnorePattern: '^_',
          caughtErrorsIgnorePattern: '^_',
        },
      ],
    },
  },
  // The package runs in pages, Workers and Node: only what all three have.
  platform(['web/headwise/**'], globals['shared-node-browser'], {
    Response: false,
    atob: false,
    FinalizationRegistry: false,
    WeakRef: false,
    Worker: false,
    WebAssembly: false,
  }),
  platform(['web/page/**', 'web/headwise/view/**'], globals.browser, globals.worker),
  platform(
    ['*.js', 'web/build/**', 'tests/**', 'web/reference/**', 'web/page/models/train/**'],
    globals.node,
  ),
  { files: ['web/**'], rules: { 'max-lines-per-function': ['error', 60] } },
  ...ROOMS.map((room) =>
    keepsOut(
      room,
      ROOMS.filter((other) => other !== room),
    ),
  ),
  keepsOut('shared', ROOMS),
  // Tests of the page and the benchmark hand functions to the browser.
  platform(
    [
      'tests/readme.test.js',
      'tests/page/**',
      'tests/bench/**',
      'tests/browsers/**',
      'tests/embed/**',
    ],
    globals.browser,
  ),
];
