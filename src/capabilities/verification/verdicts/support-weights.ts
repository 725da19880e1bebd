/**
 * Weights of the signs of support: a logistic regression on 2,067 labelled claims.
 * `node bench/verification/fit.ts --write` writes this file.
 */
export const supportWeights = {
  recall: 1.19,
  usedWords: 1.09,
  nearNumbers: 0.86,
  openValues: -0.52,
  bothDeny: 1.21,
  missingName: -0.3,
  limited: -0.57,
  clashes: -0.26,
  otherOrder: 0.24,
  rival: -0.15,
} as const
export const supportIntercept = -0.72

/** Probability from which words make a claim without an obstacle likely. */
export const likely_min = 0.71
