/** Returns the number that people see for a step or turn of the API, which counts from 0. URLs have it too. */
export function shownNumber(at: number): string {
  return String(at + 1)
}
