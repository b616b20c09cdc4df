/** `3`, `0.4` */
export const rateInWords = (perSecond: number): string =>
  String(perSecond < 9.95 ? Number(perSecond.toFixed(1)) : Math.round(perSecond));
