import { connect } from 'node:net'
import type { ScriptInput } from '../../src/capabilities/demo/index.ts'
import type { FirstLogin } from './cluster.ts'
import { rawPost } from './raw-post.ts'
import type { Secrets } from './secrets.ts'

/** Provider keys in the formats of the providers, and one without a known format. */
const providerKeys = {
  openai: 'sk-proj-Tw7openaiKEYq9XbV2mZ4rL8sD1fG6hJ3kP5nC0aE',
  anthropic: 'sk-ant-api03-Qz4anthropicKEYw8RtY2uI6oP1aS5dF9gH3jK7lB',
  gemini: 'AIzaSyGeminiKEY7fQ2wE9rT4yU1iO6pA3sD8fG5h',
  opaque: '7c1e9d4b2a8f4e0db35c6f9a1d2e8b40',
} as const

type Provider = keyof typeof providerKeys

/** Part of every question of the traffic, which must be found where content is stored. */
export const contentMark = 'the-content-of-the-secrets-test'

/** A provider that repeats the caller's key in its errors, at once and in mid-stream. */
export const repeatingScript: ScriptInput = {
  steps: (Object.keys(providerKeys) as Provider[]).flatMap((name) => {
    const message = `Incorrect API key provided: ${providerKeys[name]}. Find yours in the console.`
    const match = { last_text_contains: `repeat ${name}` }
    return [
      { match: { ...match, stream: true }, stream: { error_mid_stream: { message } } },
      { match, reply: { error: { status: 401, message, code: 'invalid_api_key' } } },
    ]
  }),
}

/** Addresses and credentials of the service. */
export type Target = { proxy_url: string; api_url: string; login: FirstLogin }

/**
 * Uses each kind of secret, correctly and incorrectly. Returns the headers and bodies of the
 * refusals, which must contain no secret either.
 */
export async function sendSecrets(target: Target, secrets: Secrets): Promise<string[]> {
  for (const [name, key] of Object.entries(providerKeys)) secrets.add(`provider key ${name}`, key)
  secrets.add('project key', target.login.project_key)
  secrets.add('password', target.login.admin_password)
  await completions(target)
  return [...(await brokenCompletions(target, secrets)), ...(await signIns(target, secrets))]
}

/** Sends each provider key, with a normal answer and with an error that repeats it. */
async function completions({ proxy_url, login }: Target): Promise<void> {
  for (const [name, key] of Object.entries(providerKeys)) {
    for (const stream of [false, true]) {
      for (const text of ['hello', `repeat ${name}`]) {
        const answer = await fetch(`${proxy_url}/v1/chat/completions`, {
          method: 'POST',
          headers: completionHeaders(login.project_key, key),
          body: question(text, stream),
        })
        const answerText = await answer.text()
        const expected = text === 'hello' ? 'You said' : key
        if (!answerText.includes(expected))
          throw new Error(`${text}: the provider said ${answerText}`)
      }
    }
  }
}

/** Calls that are refused, aborted, or not HTTP, each with a valid provider key. */
async function brokenCompletions(target: Target, secrets: Secrets): Promise<string[]> {
  const { proxy_url, login } = target
  const url = `${proxy_url}/v1/chat/completions`
  const wrong = secrets.add(
    'wrong project key',
    `lt_Wr0ngKey_${'Zx5cV8bN1mQ4wE7rT0yU3iO6pA9sD2fG'}`,
  )
  const good = completionHeaders(login.project_key, providerKeys.openai)
  const refused = await Promise.all(
    [
      { headers: completionHeaders(wrong, providerKeys.openai) },
      { headers: { ...good, 'x-api-key': `${login.project_key}x` } },
      { headers: { ...good, 'x-provider': 'nobody' } },
      { headers: { ...good, authorization: `Basic ${providerKeys.opaque}` } },
      { headers: { ...good, 'content-type': 'text/plain' } },
      { headers: { ...good, 'x-task-id': 'x'.repeat(300) } },
      { headers: { ...good, 'x-api-key': providerKeys.openai, authorization: `Bearer ${wrong}` } },
    ].map(async ({ headers }) => {
      const answer = await fetch(`${url}?key=${providerKeys.gemini}`, {
        method: 'POST',
        headers,
        body: question('hello', false),
      })
      if (answer.status < 400) throw new Error(`expected a refusal, got ${answer.status}`)
      return headersAndBody(answer)
    }),
  )
  const leaving = rawPost(url, question('a client that leaves', true), good)
  await leaving.head
  leaving.leave()
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: ${good.authorization}\r\n`
  const big = `x-big: ${good.authorization.repeat(2_000)}\r\n\r\n`
  return [
    ...refused,
    await rawAnswer(proxy_url, `${head}x-api-key: ${login.project_key}\r\n${big}`),
    await rawAnswer(proxy_url, `${head}content-length: 1\r\ncontent-length: 2\r\n\r\n`),
  ]
}

type Reply = Record<string, string>

/** Signs in and creates keys, then repeats all of it with errors. */
async function signIns({ api_url, login }: Target, secrets: Secrets): Promise<string[]> {
  const ask = askOf(api_url)
  const password = { grant_type: 'password', username: login.admin_email }
  const first = await ask.ok('POST', '/api/v1/auth/token', {
    body: { ...password, password: login.admin_password },
  })
  const jwt = secrets.add('access token', first['access_token'])
  const refresh_token = secrets.add('refresh token', first['refresh_token'])
  const second = await ask.ok('POST', '/api/v1/auth/token', {
    body: { grant_type: 'refresh_token', refresh_token },
  })
  secrets.add('next access token', second['access_token'])
  secrets.add('next refresh token', second['refresh_token'])
  await ask.ok('GET', '/api/v1/tasks', { jwt })

  const keys = `/api/v2/access/projects/${login.project_id}/api-keys`
  const made = await ask.ok('POST', keys, { jwt, body: { name: 'made' }, once: 'made-1' })
  secrets.add('made key', made['key'])
  await ask.ok('POST', keys, { jwt, body: { name: 'made' }, once: 'made-1' })
  const rotated = await ask.ok('POST', `${keys}/${made['id']}/rotate`, { jwt, once: 'rotated-1' })
  secrets.add('rotated key', rotated['key'])
  const client_secret = await serviceAccountKey(ask, jwt, secrets)
  const machine = await ask.ok('POST', '/api/v1/auth/token', {
    body: { grant_type: 'client_credentials', client_secret },
  })
  secrets.add('access token of a service account', machine['access_token'])

  const wrong = secrets.add('wrong password', 'a wrong pass phrase 4711')
  const token = '/api/v1/auth/token'
  const cut = `{"grant_type":"password","username":"a","password":"${wrong}"`
  return Promise.all([
    ask.refused('POST', token, { body: { ...password, password: wrong } }),
    ask.refused('POST', token, { body: { ...password, password: [wrong] } }),
    ask.refused('POST', token, { text: cut }),
    ask.refused('POST', token, { body: { grant_type: 'refresh_token', refresh_token } }),
    ask.refused('POST', token, {
      body: { grant_type: 'client_credentials', client_secret: wrong },
    }),
    ask.refused('GET', '/api/v1/tasks', { jwt: `${jwt.slice(0, -6)}AAAAAA` }),
    ask.refused('GET', '/api/v1/tasks', { jwt: login.project_key.slice(0, -1) }),
    ask.refused('GET', `/api/v1/tasks?api_key=${login.project_key}`, {}),
    ask.refused('GET', `/api/v1/nothing?access_token=${jwt}`, {}),
    ask.refused('PUT', '/api/v1/auth/password', {
      jwt,
      body: { current_password: wrong, new_password: login.admin_password },
    }),
  ])
}

async function serviceAccountKey(ask: Ask, jwt: string, secrets: Secrets): Promise<string> {
  const account = await ask.ok('POST', '/api/v2/access/service-accounts', {
    jwt,
    body: { name: 'machine', scopes: ['tasks:read'] },
  })
  const keys = `/api/v2/access/service-accounts/${account['id']}/keys`
  const { key } = await ask.ok('POST', keys, { jwt, body: {} })
  return secrets.add('key of a service account', key)
}

type Sent = { jwt?: string; body?: unknown; text?: string; once?: string }
type Ask = {
  ok(method: string, path: string, sent: Sent): Promise<Reply>
  refused(method: string, path: string, sent: Sent): Promise<string>
}

function askOf(api_url: string): Ask {
  const send = (method: string, path: string, { jwt, body, text, once }: Sent) => {
    const content = text ?? (body === undefined ? undefined : JSON.stringify(body))
    return fetch(`${api_url}${path}`, {
      method,
      headers: {
        ...(content !== undefined && { 'content-type': 'application/json' }),
        ...(jwt !== undefined && { authorization: `Bearer ${jwt}` }),
        ...(once !== undefined && { 'idempotency-key': once }),
      },
      ...(content !== undefined && { body: content }),
    })
  }
  return {
    ok: async (method, path, sent) => {
      const answer = await send(method, path, sent)
      if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`)
      return (await answer.json()) as Reply
    },
    refused: async (method, path, sent) => {
      const answer = await send(method, path, sent)
      if (answer.ok) throw new Error(`${method} ${path}: expected a refusal, got ${answer.status}`)
      return headersAndBody(answer)
    },
  }
}

function completionHeaders(project_key: string, provider_key: string) {
  return {
    'content-type': 'application/json',
    'x-api-key': project_key,
    authorization: `Bearer ${provider_key}`,
    'x-task-id': 'secrets-task',
    baggage: 'who=tester',
  }
}

function question(text: string, stream: boolean): string {
  const messages = [{ role: 'user', content: `${contentMark}: ${text}` }]
  return JSON.stringify({ model: 'gpt-4.1-mini', messages, ...(stream && { stream }) })
}

async function headersAndBody(answer: Response): Promise<string> {
  return `${JSON.stringify([...answer.headers])}\n${await answer.text()}`
}

/** Sends bytes that need not be HTTP; returns the answer until the connection ends or breaks. */
function rawAnswer(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.on('data', (data) => {
      answer += data
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(answer))
  })
}
