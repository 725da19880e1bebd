/** How an answer breaks a statement: a sentence for people, and how sure it is, 0..1. */
export type Breach = { violation: string; confidence: number }
