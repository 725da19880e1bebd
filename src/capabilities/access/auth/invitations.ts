import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import { record } from '../../../model/named-schemas.ts'
import {
  Answer,
  defineRoute,
  type RequestHeaders,
  type Route,
} from '../../../platform/http/index.ts'
import type { Access } from '../access.ts'
import { checkPasswordChange } from '../authorizer.ts'
import { nameField, newPasswordField, organizationRoleField } from '../fields.ts'
import { bearerToken, identify } from '../identify.ts'
import {
  type Accepting,
  acceptInvitation,
  findByLink,
  invitationNotFound,
} from '../invitations/accept.ts'
import { hashSecret } from '../keys/project-key.ts'
import { assertStrong } from '../passwords/password-strength.ts'
import { accessTokenSchema, signInAs } from './token.ts'

/** The token of a link. A text of another form counts as an unknown token. */
const linkTokenField = z.string().min(1).max(256).describe('The part of the link after `token=`.')

/**
 * POST /api/v1/auth/invitations/lookup: the organization and role of an invitation. Changes
 * nothing. The token is in the body, because proxies log URLs.
 */
export function lookUpInvitation({ db, clock }: Access): Route {
  return defineRoute({
    method: 'POST',
    url: '/api/v1/auth/invitations/lookup',
    id: 'lookUpInvitation',
    summary: 'Organization and role that a link invites to',
    audit: 'refusals',
    auth: 'public',
    scope: { level: 'public' },
    body: record('LookUpInvitationRequest', { token: linkTokenField }),
    reply: record('LinkedInvitation', {
      organization: z.string().describe('Name of the organization.'),
      email: z.string(),
      role: organizationRoleField,
    }),
    errors: ['invitation_not_found', 'store_unavailable'],
    rate_per_minute_max: 60,
    body_bytes_max: 16 * 1024,
    handle: async ({ body }) => {
      const now = new Date(clock.now_ms())
      const found = await findByLink(db, { token_hash: hashSecret(body.token), now })
      if (found === undefined) throw invitationNotFound()
      const { organization, email, role } = found
      const headers = { 'cache-control': 'no-store' }
      return new Answer({ organization, email, role }, { headers })
    },
  })
}

/**
 * POST /api/v1/auth/invitations/accept: makes the invited person a member. A person without an
 * account chooses a name and a password and is signed in (201); a person with one sends their
 * access token in Authorization (200).
 */
export function acceptLinkedInvitation(access: Access): Route {
  const { db, clock, roles, sessions } = access
  return defineRoute({
    method: 'POST',
    url: '/api/v1/auth/invitations/accept',
    id: 'acceptInvitation',
    summary: 'Accept an invitation, signed in or with a new account',
    auth: 'public',
    scope: { level: 'public' },
    status: 201,
    headers: [
      {
        name: 'Authorization',
        required: false,
        description: '`Bearer` and an access token of the invited person, who has an account.',
      },
    ],
    body: bodySchema,
    reply: acceptedSchema,
    also: {
      status: 200,
      description: 'A person with an account became a member.',
      reply: acceptedSchema,
    },
    errors: [
      ...(['credentials_invalid', 'permission_denied', 'password_change_required'] as const),
      ...(['invitation_not_found', 'account_exists', 'overloaded', 'store_unavailable'] as const),
    ],
    rate_per_minute_max: 60,
    body_bytes_max: 16 * 1024,
    handle: async ({ body, headers }) => {
      const token_hash = hashSecret(body.token)
      const now = new Date(clock.now_ms())
      const { authorization } = headers
      const isSignedIn = authorization !== undefined || sessions.has(headers)
      const person = isSignedIn
        ? await signedIn(headers, access)
        : await newPerson(body, { access, token_hash, now })
      const accepted = await acceptInvitation(db, { token_hash, now, person })
      roles.forget()
      const { user_id, organization_id, organization, role, account } = accepted
      const tokens = isSignedIn ? null : await signInAs(accepted, access)
      return new Answer(
        { user_id, organization_id, organization, role, tokens },
        { status: account === 'created' ? 201 : 200, headers: { 'cache-control': 'no-store' } },
      )
    },
  })
}

const bodySchema = record('AcceptInvitationRequest', {
  token: linkTokenField,
  display_name: nameField.optional().describe('Your name. Required for a new account.'),
  password: newPasswordField.optional().describe('Your password. Required for a new account.'),
})

const acceptedSchema = record('AcceptedInvitation', {
  user_id: z.uuid(),
  organization_id: z.uuid(),
  organization: z.string(),
  role: organizationRoleField.describe('Role that the invitation granted.'),
  tokens: accessTokenSchema
    .nullable()
    .describe('Tokens of the new sign-in; null if the caller was already signed in.'),
})

type Body = z.output<typeof bodySchema>

/** Checks the link before the password is hashed, so that a guessed link costs no hash. */
async function newPerson(
  { display_name, password }: Body,
  about: { access: Access; token_hash: Buffer; now: Date },
): Promise<Accepting> {
  if (display_name === undefined || password === undefined) {
    throw problem('invalid_request', {
      detail:
        'Expected display_name and password for a new account, or an access token in Authorization',
    })
  }
  const { access, ...link } = about
  const invitation = await findByLink(access.db, link)
  if (invitation === undefined) throw invitationNotFound()
  const { email, organization } = invitation
  const known = [email, display_name, organization]
  await assertStrong(access.strength, { password, pointer: '/password', about: known })
  return { kind: 'new', display_name, password_hash: await access.passwords.hash(password) }
}

async function signedIn(headers: RequestHeaders, access: Access): Promise<Accepting> {
  const { external, roles } = access
  const { authorization: header } = headers
  const authorization = header === undefined ? undefined : String(header)
  const token = authorization === undefined ? '' : bearerToken(authorization)
  if (external?.claims(token)) {
    const person = await external.verify(token)
    if ((await roles.issuerUser(person)) === undefined) return { kind: 'issuer', person }
  }
  const scope = { level: 'user' } as const
  const browser = { method: 'POST', headers }
  const given = { authorization, api_key: undefined, project: undefined }
  const credentials = { ...given, params: {}, browser }
  const identity = await identify({ auth: 'jwt', scope }, credentials, access)
  checkPasswordChange(scope, identity)
  if (identity.kind === 'user') return { kind: 'user', id: identity.id }
  throw problem('permission_denied', { detail: 'This requires a signed-in user' })
}
