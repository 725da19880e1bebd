/** A character that is a fraction, such as ½. */
export const fractionSign = '[¼-¾⅐-⅞]'

/** Returns the value of a fraction: of a character such as ½, or of `1/2`. */
export function readFraction(written: string): number {
  const [above = '', below = ''] = written.normalize('NFKC').split(/[/⁄]/)
  return Number(above) / Number(below)
}
