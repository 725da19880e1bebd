/** Bounds of an unknown number. */
export type Interval = readonly [low: number, high: number]

/** Returns the interval with an error of `tail` a side; undefined without one. */
export type Bounds = (tail: number) => Interval | undefined
