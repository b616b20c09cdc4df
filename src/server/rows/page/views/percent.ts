export const PERCENT = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });
