import { type AccessApp, type Reply, startAccessApp } from './access-app.ts'

export const accessRoot = '/api/v2/access'

/** Project members that custom resources declare: calls with the operator's key. */
export type DeclaredAccess = {
  app: AccessApp
  /** The same installation without mail, so that invitations show their link. */
  plain: AccessApp
  /** An owner of the organization. */
  owner: string
  organization_id: string
  project: string
  /** Makes each mail fail, until it is called without an error. */
  failMails(fault?: Error): void
  /** Lets the limits of a minute pass. */
  passMinute(): void
  /** Lets the limits of a day pass, and signs the owner in again. */
  passDay(): Promise<void>
  declare(name: string, email: string, more?: Declared): Promise<Reply>
  end(name: string, more?: Declared & { retain?: boolean }): Promise<Reply>
  read(name: string, more?: Declared): Promise<Reply['body']>
  /** Returns the token of the last mail to an address. */
  mailed(email: string): string
  /** Accepts as a new person. */
  accept(token: string): Promise<Reply>
  /** Accepts as the person with an access token. */
  acceptAs(link: string, token: string): Promise<Reply>
  /** The role of a person in the project, as its list of members shows it. */
  roleOf(email: string): Promise<string | null | undefined>
  isInOrganization(email: string): Promise<boolean>
  close(): Promise<void>
}

/** Owner and values of a declaration. */
export type Declared = {
  role?: string
  namespace?: string
  uid?: string
  installation?: string
  on?: string
}

/** Returns the owner of a declaration. */
export function declarer(kind: string, name: string, more: Declared = {}) {
  const { namespace = 'team-a', uid = `uid-${name}`, installation } = more
  return { kind, namespace, name, uid, ...(installation !== undefined && { installation }) }
}

/** Returns such an owner as the query parameter `managed_by`. */
export function declarerQuery(kind: string, name: string, more: Declared = {}): string {
  const { namespace = 'team-a', installation } = more
  return `managed_by=${[kind, namespace, name, ...(installation === undefined ? [] : [installation])].join('/')}`
}

/** Starts both apps, with a project of the first organization. */
export async function startDeclaredAccess(): Promise<DeclaredAccess> {
  const mails = new Map<string, string>()
  let mailFault: Error | undefined
  const plain = await startAccessApp()
  const app = await startAccessApp({
    database_url: plain.relational.pool.options.connectionString ?? '',
    mailer: {
      configured: true,
      send: async ({ to, text }) => {
        if (mailFault !== undefined) throw mailFault
        mails.set(String(to), text)
      },
      close: () => undefined,
    },
  })
  const { admin_email, admin_password, organization_id } = plain.first
  const signIn = () => app.signIn(admin_email, admin_password)
  let owner = await signIn()
  const projects = `${accessRoot}/organizations/${organization_id}/projects`
  const made = await app.call('POST', projects, { token: owner, body: { name: 'declared' } })
  const project: string = made.body.id
  const key = plain.operator_key
  const advance = (ms: number) => {
    app.clock.ahead_ms += ms
    plain.clock.ahead_ms = app.clock.ahead_ms
  }
  const pathOf = ({ on = project }: Declared) => `${accessRoot}/projects/${on}/declared-members`
  const queryOf = (name: string, more: Declared) => declarerQuery('ProjectMember', name, more)
  const emailsIn = async (path: string) =>
    (await app.call('GET', `${path}?limit=200`, { token: owner })).body.members
  const accepting = '/api/v1/auth/invitations/accept'
  return {
    ...{ app, plain, organization_id, project },
    get owner() {
      return owner
    },
    failMails: (fault) => {
      mailFault = fault
    },
    passMinute: () => advance(61_000),
    passDay: async () => {
      advance(86_400_000)
      owner = await signIn()
    },
    declare: (name, email, more = {}) => {
      const managed_by = declarer('ProjectMember', name, more)
      const body = { email, role: more.role ?? 'viewer', managed_by }
      return app.call('PUT', pathOf(more), { key, body })
    },
    end: (name, { retain, ...more } = {}) => {
      const path = `${pathOf(more)}?${queryOf(name, more)}${retain ? '&retain=true' : ''}`
      return app.call('DELETE', path, { key })
    },
    read: async (name, more = {}) =>
      (await app.call('GET', `${pathOf(more)}?${queryOf(name, more)}`, { key })).body,
    mailed: (email) => /lti_\w+/.exec(mails.get(email) ?? '')?.[0] ?? '',
    accept: (token) => {
      const body = { token, display_name: 'Me', password: 'a password of mine' }
      return app.call('POST', accepting, { body })
    },
    acceptAs: (link, token) => app.call('POST', accepting, { token, body: { token: link } }),
    roleOf: async (email) => {
      const members = await emailsIn(`${accessRoot}/projects/${project}/members`)
      return members.find((one: { email: string }) => one.email === email)?.project_role
    },
    isInOrganization: async (email) => {
      const members = await emailsIn(`${accessRoot}/organizations/${organization_id}/members`)
      return members.some((one: { email: string }) => one.email === email)
    },
    close: async () => {
      await app.close()
      await plain.close()
    },
  }
}
