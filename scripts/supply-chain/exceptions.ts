import { readFileSync } from 'node:fs'
import { z } from 'zod'

const reason = z.string().min(20)

const schema = z.strictObject({
  /** Advisories that do not stop a build until the date. */
  advisories: z.array(
    z.strictObject({
      /** URL of the advisory, as `npm audit` shows it. */
      url: z.url(),
      package: z.string(),
      reason,
      expires: z.iso.date(),
    }),
  ),
  licences: z.strictObject({
    /** SPDX ids. */
    allowed: z.array(z.string()),
    /** `licence` is what the lock file has: an expression, or null. */
    exceptions: z.array(
      z.strictObject({ package: z.string(), licence: z.string().nullable(), reason }),
    ),
  }),
})

/** What the checks of dependencies accept, with the reason of each exception. */
export type Exceptions = z.output<typeof schema>

/** Reads and checks the exceptions of the repository. */
export function readExceptions(): Exceptions {
  return parseExceptions(readFileSync(new URL('exceptions.json', import.meta.url), 'utf8'))
}

/** Parses exceptions. Throws an error that names the missing reason or date. */
export function parseExceptions(text: string): Exceptions {
  return schema.parse(JSON.parse(text))
}
