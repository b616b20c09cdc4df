import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist', 'demo/dist', 'demo/data', '**/vendor', '.tmp', 'test-results'] },
  ...tseslint.configs.strict,
  {
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-invalid-void-type': 'off',
      '@typescript-eslint/no-dynamic-delete': 'off',
      '@typescript-eslint/unified-signatures': 'off',
    },
  },
);
