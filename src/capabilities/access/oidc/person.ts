import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { replaceInvisible } from '../../../model/names.ts'

/** A person at the external issuer. */
export type IssuerPerson = {
  issuer: string
  /** Client or audience of the token. */
  client_id: string
  subject: string
  subjects: SubjectType
  /** Lower case. Undefined unless the issuer has verified it. */
  email: string | undefined
}

/**
 * Subjects of an issuer (OpenID Connect Core, section 8). `public`: a person has one subject in all
 * clients. `pairwise`: a person has another subject in each client.
 */
export type SubjectType = 'public' | 'pairwise'

/** A person who signs in, with the groups at the issuer. */
export type ArrivingPerson = IssuerPerson & { display_name: string | undefined; groups: string[] }

/** Maximum groups that are read. Further groups give no role. */
const groups_max = 1_000

/** A subject: OpenID Connect Core allows ASCII of up to 255 characters. */
export const subjectField = z.string().regex(/^[\x20-\x7e]{1,255}$/)

const claimsSchema = z.looseObject({
  sub: subjectField,
  name: z.string().optional().catch(undefined),
  _claim_names: z.record(z.string(), z.unknown()).optional().catch(undefined),
})

type Claims = Readonly<Record<string, unknown>>

/** The verified claims about a person: of the ID token, and of UserInfo if it was fetched. */
export type PersonClaims = { id_token: Claims; user_info: Claims }

/**
 * Reads a person from verified claims. The ID token takes precedence. The e-mail and its
 * verification are of the same source, because either may be about another address. A missing list of groups is an empty list. Throws
 * `permission_denied` when the issuer left the list out because it is too long for a token.
 */
export function personFrom(
  { id_token, user_info }: PersonClaims,
  about: Pick<IssuerPerson, 'issuer' | 'client_id' | 'subjects'> & { groups_claim: string },
): ArrivingPerson {
  const { groups_claim, ...origin } = about
  const claims: Claims = { ...user_info, ...id_token }
  const { sub: subject, name, ...rest } = claimsSchema.parse(claims)
  if (rest._claim_names !== undefined && groups_claim in rest._claim_names) {
    throw problem('permission_denied', {
      detail: `The external issuer left out the claim ${groups_claim}, because it is too long. Limit it to groups of this application`,
    })
  }
  return {
    ...origin,
    subject,
    email: verifiedEmail([id_token, user_info]),
    display_name: cleanName(name),
    groups: groupsIn(claims[groups_claim]),
  }
}

/**
 * Returns the e-mail, in lower case, of the first source that has an e-mail and says that it is
 * verified. Returns undefined if any source says that the e-mail of the person is not verified.
 */
export function verifiedEmail(sources: readonly Claims[]): string | undefined {
  if (sources.some((source) => isFalse(source['email_verified']))) return undefined
  for (const source of sources) {
    const read = verifiedSchema.safeParse(source)
    if (read.success) return read.data.email.toLowerCase()
  }
  return undefined
}

const verifiedSchema = z.looseObject({
  email: z.email().max(320),
  email_verified: z.literal(true),
})

/** Some issuers send the claim as text. Only `true` itself verifies, any `false` denies. */
function isFalse(claim: unknown): boolean {
  return claim === false || (typeof claim === 'string' && claim.toLowerCase() === 'false')
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
