import { codeOf, faultOf, isSuccess, printable } from './replies.js'

/**
 * The steps of the pages of invitations and password resets. They know no browser: each step calls
 * the API and returns the view to show.
 *
 * @typedef {import('./replies.js').Call} Call
 * @typedef {import('./replies.js').Fault} Fault
 * @typedef {import('./replies.js').Reply} Reply
 * @typedef {import('./replies.js').State} State
 * @typedef {{ access_token: string, refresh_token: string }} Session
 */

const auth = '/api/v1/auth'
const minPasswordCharacters = 12
const maxPasswordCharacters = 256

/**
 * Creates the steps of the page of an invitation. A session is only used to accept and then ended.
 *
 * @param {{ token: string | undefined, call: Call }} options
 */
export function createInvitationFlow({ token, call }) {
  /** @type {Record<string, string>} */
  let texts = {}
  let email = ''
  /** @type {{ access_token: string, password: string } | undefined} */
  let given

  /** @type {(view: string, more?: Partial<State>) => State} */
  const show = (view, more) => ({ view, texts, ...more })

  /** @type {(view: string, reply: Reply, field?: string) => State} */
  const fail = (view, reply, field) => {
    if (codeOf(reply) === 'invitation_not_found') return show('ended')
    return show(view, { fault: faultOf(reply, field) })
  }

  /** @type {(fields: { password: string }) => Promise<State>} */
  const signIn = async ({ password }) => {
    const { access_token, reply } = await acceptSignedIn({ token, call, email, password })
    if (access_token === undefined && reply.status === 401) {
      const text = 'The password is wrong, or the account does not exist.'
      return show('sign_in', { fault: { text, field: 'password' } })
    }
    if (access_token !== undefined && codeOf(reply) === 'password_change_required') {
      given = { access_token, password }
      return show('replace_password')
    }
    return isSuccess(reply) ? show('done') : fail('sign_in', reply)
  }

  return {
    /** Reads the invitation. */
    open: async () => {
      if (token === undefined) return show('no_link')
      const reply = await call('POST', `${auth}/invitations/lookup`, { body: { token } })
      if (!isSuccess(reply)) return fail('failed', reply)
      email = String(reply.body['email'])
      texts = {
        organization: printable(String(reply.body['organization'])),
        email: printable(email),
        role: String(reply.body['role']),
      }
      return show('new_account')
    },
    chooseSignIn: () => show('sign_in'),
    chooseNewAccount: () => show('new_account'),
    /**
     * Creates the account of the person, who becomes a member.
     *
     * @param {{ display_name: string, password: string }} fields
     * @returns {Promise<State>}
     */
    create: async ({ display_name, password }) => {
      const fault = findLengthFault(password)
      if (fault !== undefined) return show('new_account', { fault })
      const reply = await acceptAsNew({ token, call, display_name, password })
      if (codeOf(reply) === 'account_exists') {
        const notice = `${texts['email']} has an account. Sign in to accept the invitation.`
        return show('sign_in', { notice })
      }
      return isSuccess(reply) ? show('done') : fail('new_account', reply)
    },
    signIn,
    /**
     * Replaces a password that another person may know, then accepts.
     *
     * @param {{ password: string }} fields
     * @returns {Promise<State>}
     */
    replacePassword: async ({ password }) => {
      const fault = findLengthFault(password)
      if (fault !== undefined) return show('replace_password', { fault })
      if (given === undefined) return show('sign_in')
      const { access_token, password: current_password } = given
      const body = { current_password, new_password: password }
      const reply = await call('PUT', `${auth}/password`, { body, access_token })
      if (!isSuccess(reply)) return fail('replace_password', reply, 'password')
      given = undefined
      return signIn({ password })
    },
  }
}

/**
 * Accepts with a new account. Returns the reply.
 *
 * @param {{ token: string | undefined, call: Call, display_name: string, password: string }} options
 */
async function acceptAsNew({ call, ...body }) {
  const reply = await call('POST', `${auth}/invitations/accept`, { body })
  const session = /** @type {Session | null | undefined} */ (reply.body['tokens'])
  if (isSuccess(reply) && session) await endSession(session, call)
  return reply
}

/**
 * Signs in, accepts, and ends the session. Returns the last reply, with the access token after a
 * sign-in.
 *
 * @param {{ token: string | undefined, call: Call, email: string, password: string }} options
 * @returns {Promise<{ reply: Reply, access_token?: string }>}
 */
async function acceptSignedIn({ token, call, email, password }) {
  const body = { grant_type: 'password', username: email, password }
  const signedIn = await call('POST', `${auth}/token`, { body })
  if (!isSuccess(signedIn)) return { reply: signedIn }
  const session = /** @type {Session} */ (signedIn.body)
  const { access_token } = session
  const reply = await call('POST', `${auth}/invitations/accept`, { body: { token }, access_token })
  await endSession(session, call)
  return { reply, access_token }
}

/** @type {(session: Session, call: Call) => Promise<unknown>} */
function endSession({ refresh_token }, call) {
  return call('POST', `${auth}/revoke`, { body: { refresh_token } })
}

/**
 * Creates the steps of the page of a reset link. Without a link, the page requests one.
 *
 * @param {{ token: string | undefined, call: Call }} options
 */
export function createResetFlow({ token, call }) {
  /** @type {(view: string, more?: Partial<State>) => State} */
  const show = (view, more) => ({ view, texts: {}, ...more })
  return {
    open: async () => show(token === undefined ? 'request' : 'new_password'),
    chooseRequest: () => show('request'),
    /**
     * @param {{ password: string, again: string }} fields
     * @returns {Promise<State>}
     */
    setPassword: async ({ password, again }) => {
      const fault = findLengthFault(password)
      if (fault !== undefined) return show('new_password', { fault })
      if (password !== again) {
        const differ = { text: 'The two passwords differ.', field: 'again' }
        return show('new_password', { fault: differ })
      }
      const body = { token, new_password: password }
      const reply = await call('POST', `${auth}/password-reset/confirm`, { body })
      if (isSuccess(reply)) return show('done')
      if (reply.status === 401) return show('ended')
      return show('new_password', { fault: faultOf(reply, 'password') })
    },
    /**
     * Requests a link. The view is the same for e-mails with and without an account.
     *
     * @param {{ email: string }} fields
     * @returns {Promise<State>}
     */
    request: async ({ email }) => {
      const reply = await call('POST', `${auth}/password-reset`, { body: { email } })
      if (isSuccess(reply)) return show('requested')
      return show('request', { fault: faultOf(reply) })
    },
  }
}

/** @type {(password: string) => Fault | undefined} */
function findLengthFault({ length }) {
  if (length < minPasswordCharacters) {
    return { text: `Use at least ${minPasswordCharacters} characters.`, field: 'password' }
  }
  if (length <= maxPasswordCharacters) return undefined
  return { text: `Use at most ${maxPasswordCharacters} characters.`, field: 'password' }
}
