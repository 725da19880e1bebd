/** A broken statement: a sentence for readers and a confidence, 0–1. */
export type Breach = { violation: string; confidence: number }

/** Makes a breach. */
export function toBreach(violation: string, confidence: number): Breach {
  return { violation, confidence }
}
