import { z } from 'zod'
import { parsedJson } from '../../../kernel/json-values.ts'
import { organizationRoles, projectRoles } from '../../../kernel/scopes.ts'
import {
  choice,
  days,
  describeSetting,
  hours,
  integer,
  minutes,
  secret,
  text,
  url,
} from '../setting.ts'

const entries_max = 1_000
const name = z.string().min(1).max(200)

const groupRoleSchema = z.union([
  z.strictObject({ group: name, organization: name, role: z.enum(organizationRoles) }),
  z.strictObject({ group: name, organization: name, project: name, role: z.enum(projectRoles) }),
])

/**
 * A role that a group of the external issuer gives: in an organization, or in one of its projects.
 * Organizations and projects are given by name.
 */
type GroupRole = z.output<typeof groupRoleSchema>

/** Defines a setting that is a JSON list of `GroupRole`. It is empty by default. */
function groupRoles(docs: { reason: string }): z.ZodType<GroupRole[]> {
  const expected = `a JSON list of at most ${entries_max} objects, each {"group","organization","role"} with role ${organizationRoles.join(', ')}, or {"group","organization","project","role"} with role ${projectRoles.join(', ')}`
  const schema = z
    .string()
    .transform((text, context): GroupRole[] => {
      const parsed = z.array(groupRoleSchema).max(entries_max).safeParse(parsedJson(text))
      if (parsed.success) return parsed.data
      const [at] = parsed.error.issues[0]?.path ?? []
      const where = typeof at === 'number' ? `entry ${at + 1}: ` : ''
      context.addIssue({ code: 'custom', message: `${where}expected ${expected}` })
      return z.NEVER
    })
    .optional()
    .transform((roles) => roles ?? [])
  return describeSetting<GroupRole[]>(schema, { ...docs, unit: 'JSON' }, 'a JSON list of roles')
}

/** Settings of the external issuer and of sessions in browsers. */
export const signInSettings = {
  oidc_issuer: url(['https', 'http'], {
    unit: 'URL',
    reason:
      'External OpenID Connect issuer, exactly as in `iss` of its tokens. Its host may be reached in any network.',
  }),
  oidc_audience: text({
    unit: 'text',
    reason:
      'Required `aud` claim of access tokens from the external issuer. When unset, only browsers sign in there.',
  }),
  oidc_subjects: choice(['public', 'pairwise'], {
    unit: 'type',
    default: 'public',
    reason:
      'Subjects of the external issuer. `public`: a person has one subject in all clients, and an account has one subject. `pairwise`: another one in each client (Entra ID), so an account has one for each client.',
  }),
  oidc_client_id: text({
    unit: 'text',
    reason:
      'Client id at the external issuer, with which browsers sign in. Requires LOOPTRACE_PUBLIC_URL: the issuer must allow the redirect URI `<public URL>/api/v1/auth/oidc/callback`.',
  }),
  oidc_client_secret: secret({
    reason: 'Client secret at the external issuer. When unset, the client is public: PKCE alone.',
  }),
  oidc_scopes: text({
    unit: 'scopes',
    default: 'openid email profile',
    reason:
      'Scopes of a sign-in, separated by spaces. Some issuers send groups only with `groups`.',
  }),
  oidc_groups_claim: text({
    unit: 'claim',
    default: 'groups',
    reason: 'Claim with the groups of a person, a list of texts.',
  }),
  oidc_group_roles: groupRoles({
    reason:
      'Roles that groups of the external issuer give, applied at each sign-in of a browser. Roles that a person or resource gave stay.',
  }),
  session_idle_ms: integer({
    unit: 'ms',
    default: 12 * hours,
    min: 5 * minutes,
    max: 30 * days,
    reason: 'Time without a request after which the session of a browser ends.',
  }),
  session_ttl_ms: integer({
    unit: 'ms',
    default: 7 * days,
    min: 5 * minutes,
    max: 30 * days,
    reason: 'Time after which the session of a browser ends in any case.',
  }),
}
