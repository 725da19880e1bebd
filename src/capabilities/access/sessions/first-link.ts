import type { Clock } from '../../../kernel/time.ts'
import { hashSecret } from '../keys/project-key.ts'
import { mintLink } from '../one-time-links.ts'

/**
 * Links that sign a person in once, for the terminal of a single machine. They are in the memory of
 * the process, so a new start ends them.
 */
export type FirstLinks = {
  /** Creates a link for the person with this (lower-case) e-mail, and returns its token. */
  create(email: string): string
  /** Uses a token, and returns its e-mail; undefined for an unknown, used or expired one. */
  use(token: string): string | undefined
}

/** Time in which a link must be opened. */
const valid_ms = 60 * 60 * 1000

/** Creates the links of a process. Only the hash of the last link is kept. */
export function createFirstLinks(clock: Clock): FirstLinks {
  let open: { hash: Buffer; email: string; expires_at: Date } | undefined
  return {
    create: (email) => {
      const { token, token_hash, expires_at } = mintLink(clock, {
        prefix: 'lt_first_',
        ttl_ms: valid_ms,
      })
      open = { hash: token_hash, email, expires_at }
      return token
    },
    use: (token) => {
      if (open === undefined || !hashSecret(token).equals(open.hash)) return undefined
      const { email, expires_at } = open
      open = undefined
      return clock.now_ms() < expires_at.getTime() ? email : undefined
    },
  }
}
