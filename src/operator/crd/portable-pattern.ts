import { notStructural } from './structural-schema.ts'

/** What JavaScript's regular expressions have and RE2, the API server's engine, has not. */
const notOfRe2: readonly [RegExp, string][] = [
  [/\(\?<?[=!]/, 'a lookaround'],
  [/\\[1-9]/, 'a back-reference'],
  [/\\k</, 'a back-reference'],
  [/\\u/, String.raw`\u`],
  [/\\c/, String.raw`\c`],
  [/\[\^?\]/, 'an empty class'],
]

/** RE2 refuses longer repeats. */
const repeatsMax = 1_000

/** Throws `SchemaNotStructural` for a pattern that the API server would read otherwise or refuse. */
export function assertPortablePattern(pattern: string, path: string): void {
  for (const [sign, name] of notOfRe2) {
    if (sign.test(pattern.replaceAll('\\\\', ''))) {
      notStructural(path, `${name} in the pattern ${pattern}, expected what RE2 has`)
    }
  }
  for (const [, from, to] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) {
    if (Math.max(Number(from), Number(to ?? 0)) > repeatsMax) {
      notStructural(
        path,
        `more than ${repeatsMax} repeats in ${pattern}, expected a length instead`,
      )
    }
  }
}
