/** How many of the last bytes `endsStream` has to see: the mark, its field name and blank lines. */
export const streamEnd_bytes = 32

/** True for the last bytes of an event stream that its provider has ended with `[DONE]`. */
export function endsStream(last: Buffer): boolean {
  return /(?:^|[\r\n])data: ?\[DONE\]\s*$/.test(last.toString('latin1'))
}
