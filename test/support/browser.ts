import type { AccessApp, Reply } from './access-app.ts'

/** Cookies of a browser, by name, for one host. */
type Jar = Map<string, string>

function keep(jar: Jar, set_cookie: readonly string[]): void {
  for (const line of set_cookie) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    if (value === '' || /max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name)
    else jar.set(name, value)
  }
}

const headerOf = (jar: Jar) => [...jar].map(([name, value]) => `${name}=${value}`).join('; ')

/**
 * A browser that keeps cookies of the app and of the provider, and follows redirects by hand. `from` is
 * its address: sign-ins are limited by network.
 */
export function openBrowser(app: AccessApp, from = '127.0.0.1') {
  const own: Jar = new Map()
  const foreign: Jar = new Map()
  const call = async (
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    url: string,
    more: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Reply> => {
    const site = { 'sec-fetch-site': 'same-origin', 'x-looptrace-csrf': '1' }
    const cookie = own.size > 0 ? { cookie: headerOf(own) } : {}
    const headers = { ...site, ...cookie, ...more.headers }
    const reply = await app.call(method, url, { ...more, headers, from })
    keep(own, [reply.headers['set-cookie'] ?? []].flat().map(String))
    return reply
  }
  /** Opens a URL of the provider, and returns the redirect that leaves the provider. */
  const atProvider = async (start: string): Promise<string> => {
    const { origin } = new URL(start)
    let url = start
    for (let hops = 0; hops < 10; hops += 1) {
      const headers = { cookie: headerOf(foreign) }
      const reply = await fetch(url, { redirect: 'manual', headers })
      keep(foreign, reply.headers.getSetCookie())
      const location = reply.headers.get('location')
      if (location === null) throw new Error(`${url}: ${reply.status} ${await reply.text()}`)
      url = new URL(location, url).href
      if (new URL(url).origin !== origin) return url
    }
    throw new Error('too many redirects')
  }
  const start = async (query = '') => {
    const reply = await call('GET', `/api/v1/auth/oidc/login${query}`)
    return { reply, location: String(reply.headers['location']) }
  }
  /** Opens the redirect of the provider as the browser does: a navigation from another site. */
  const comeBack = (url: string) => {
    const { pathname, search } = new URL(url)
    return call('GET', `${pathname}${search}`, { headers: { 'sec-fetch-site': 'cross-site' } })
  }
  return {
    ...{ own, call, start, atProvider, comeBack },
    /** Signs in at the provider, from the first redirect to the last. */
    signIn: async (query = '') => {
      const { location } = await start(query)
      return comeBack(await atProvider(location))
    },
    /** Forgets the provider's own session, so that another person may sign in. */
    leaveProvider: () => foreign.clear(),
  }
}
export type Browser = ReturnType<typeof openBrowser>
