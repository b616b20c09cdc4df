export const OPENAPI = {};
