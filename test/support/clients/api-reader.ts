import type { ClientShape } from './client-shape.ts'

/** An answer of the product API. */
type Reply = { status: number; body: Record<string, unknown> }

/** Asks the product API with the credentials of one caller. */
export type Api = {
  get(path: string): Promise<Reply>
  put(path: string, body?: object): Promise<Reply>
  post(path: string, body?: object): Promise<Reply>
  /** The same caller at another API process. */
  at(api_url: string): Api
}

type Running = Pick<ClientShape, 'api_url' | 'login'>

/** The API with the project's key. */
export function apiByKey({ api_url, login }: Running): Api {
  return apiWith(api_url, { 'x-api-key': login.project_key })
}

/** The API with an access token of the administrator. */
export async function apiByToken(running: Running): Promise<Api> {
  return apiWith(running.api_url, { authorization: `Bearer ${await accessToken(running)}` })
}

/** Signs in as administrator with the password and returns the access token. */
export async function accessToken({ api_url, login }: Running): Promise<string> {
  const { status, body } = await send(`${api_url}/api/v1/auth/token`, {
    method: 'POST',
    body: { grant_type: 'password', username: login.admin_email, password: login.admin_password },
  })
  if (status !== 200) throw new Error(`no token: ${status} ${JSON.stringify(body)}`)
  return String(body['access_token'])
}

function apiWith(api_url: string, headers: Record<string, string>): Api {
  return {
    get: (path) => send(api_url + path, { method: 'GET', headers }),
    put: (path, body) => send(api_url + path, { method: 'PUT', headers, body }),
    post: (path, body) => send(api_url + path, { method: 'POST', headers, body }),
    at: (url) => apiWith(url, headers),
  }
}

async function send(
  url: string,
  { method, headers, body }: { method: string; headers?: object; body?: object | undefined },
): Promise<Reply> {
  const answer = await fetch(url, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, body: (await answer.json()) as Reply['body'] }
}
