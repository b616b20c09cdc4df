import tseslint from 'typescript-eslint';

export default tseslint.config(
  {
    ignores: [
      ...['dist', 'demo/dist', 'demo/.dev', 'demo/data', '**/vendor', '.tmp', 'test-results'],
      // What the examples' own tools make.
      'demo/examples/*/{dist,build,.next,.astro,.svelte-kit}',
      'site/{dist,.pages,.vitepress/cache}',
    ],
  },
  ...tseslint.configs.strict,
  {
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-invalid-void-type': 'off',
      '@typescript-eslint/no-dynamic-delete': 'off',
      '@typescript-eslint/unified-signatures': 'off',
    },
  },
  {
    // What users may do with the types.
    files: ['test/types/calls.ts'],
    languageOptions: {
      parserOptions: {
        project: [
          ...['tsconfig.json', 'src/service/rows/page/tsconfig.json', 'demo/page/tsconfig.json'],
        ],
      },
    },
    rules: { '@typescript-eslint/unbound-method': 'error' },
  },
  {
    files: ['{src,test,world,lab,e2e,demo}/**/*.{ts,tsx}', 'playwright.config.ts', 'vitest.config.ts'],
    ignores: ['e2e/{fixtures,recipes}/**', 'demo/examples/**'],
    languageOptions: {
      parserOptions: {
        project: [
          ...['tsconfig.json', 'src/service/rows/page/tsconfig.json', 'demo/page/tsconfig.json'],
        ],
      },
    },
    rules: {
      // A rejection that nobody handles is the host page's error, and ends a process on Node.
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': [
        'error',
        { checksVoidReturn: { arguments: false } },
      ],
    },
  },
);
