/** How late a call may become known and still count at its end. */
export type LateTiming = {
  /** Time for which the slot of an end is evaluated again. */
  repeated_ms: number
  /** Time that a slot waits for late rows. */
  delay_ms: number
}
