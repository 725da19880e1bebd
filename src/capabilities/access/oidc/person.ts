import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { replaceInvisible } from '../../../model/names.ts'

/** A person at the external issuer. */
export type IssuerPerson = {
  issuer: string
  /** Client or audience of the token. Some issuers give a person one subject for each client. */
  client_id: string
  subject: string
  /** Lower case. Undefined unless the issuer has verified it. */
  email: string | undefined
}

/** A person who signs in, with the groups at the issuer. */
export type ArrivingPerson = IssuerPerson & { display_name: string | undefined; groups: string[] }

/** Maximum groups that are read. Further groups give no role. */
const groups_max = 1_000

/** A subject: OpenID Connect Core allows ASCII of up to 255 characters. */
export const subjectField = z.string().regex(/^[\x20-\x7e]{1,255}$/)

const claimsSchema = z.looseObject({
  sub: subjectField,
  email: z.string().optional().catch(undefined),
  email_verified: z.boolean().optional().catch(undefined),
  name: z.string().optional().catch(undefined),
  _claim_names: z.record(z.string(), z.unknown()).optional().catch(undefined),
})

/**
 * Reads a person from verified claims. A missing list of groups is an empty list. Throws
 * `permission_denied` when the issuer left the list out because it is too long for a token.
 */
export function personFrom(
  claims: Readonly<Record<string, unknown>>,
  about: { issuer: string; client_id: string; groups_claim: string },
): ArrivingPerson {
  const { issuer, client_id, groups_claim } = about
  const { sub: subject, email, email_verified, name, ...rest } = claimsSchema.parse(claims)
  if (rest._claim_names !== undefined && groups_claim in rest._claim_names) {
    throw problem('permission_denied', {
      detail: `The external issuer left out the claim ${groups_claim}, because it is too long. Limit it to groups of this application`,
    })
  }
  const isEmail = email_verified === true && z.email().max(320).safeParse(email).success
  return {
    issuer,
    client_id,
    subject,
    email: isEmail ? email?.toLowerCase() : undefined,
    display_name: cleanName(name),
    groups: groupsIn(claims[groups_claim]),
  }
}

function groupsIn(claim: unknown): string[] {
  const groups = Array.isArray(claim) ? claim : typeof claim === 'string' ? [claim] : []
  return groups.filter((group) => typeof group === 'string').slice(0, groups_max)
}

/**
 * Returns a name without invisible characters, of at most 100 characters; undefined if it is empty.
 */
function cleanName(name: string | undefined): string | undefined {
  const clean = replaceInvisible(name ?? '')
    .trim()
    .slice(0, 100)
  return clean === '' ? undefined : clean
}
