import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { chmod, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer as createProxy, type IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import { type AddressInfo, connect as connectTo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { afterAll, describe, expect, test } from 'vitest'
import { makeCertificate } from '../../../test/support/certificate.ts'
import { type KubeEnvironment, kubeEnvironment } from '../config/index.ts'
import { openConnection } from './connection.ts'

const folder = mkdtempSync(join(tmpdir(), 'kube-connection-'))
afterAll(() => rm(folder, { recursive: true }))
const at = (name: string) => join(folder, name)

// One self-signed certificate is the CA, the server and the client.
const certificate = makeCertificate('localhost')
writeFileSync(at('ca.crt'), certificate.cert)
writeFileSync(at('key.pem'), certificate.key)

type Seen = Pick<IncomingMessage, 'url' | 'headers'> & { client: string | undefined }

/** An API server that notes its requests, and answers 200. */
async function startServer() {
  const seen: Seen[] = []
  const { cert } = certificate
  const tls = { ...certificate, ca: cert, requestCert: true, rejectUnauthorized: false }
  const server = createServer(tls, ({ url, headers, socket }, response) => {
    const client = socket instanceof TLSSocket ? socket.getPeerCertificate().subject?.CN : undefined
    seen.push({ url, headers, client: typeof client === 'string' ? client : undefined })
    response.end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    ...{ seen, port },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const { variables } = kubeEnvironment()
let now_ms = 1_000_000
const clock = { now_ms: () => now_ms, now_ns: () => BigInt(now_ms) * 1_000_000n }

function environment(port: number, changes: Partial<KubeEnvironment> = {}): KubeEnvironment {
  const address = { service_host: 'localhost', service_port: String(port) }
  const home = at('nobody')
  return {
    ...{ kubeconfig: undefined, service_account: folder, home, variables },
    ...{ ...address, ...changes },
  }
}

async function connect(port: number, user: object, cluster: object = {}) {
  const kubeconfig = at(`config-${Math.random()}`)
  const ca = { 'certificate-authority': 'ca.crt' }
  const about = { server: `https://localhost:${port}/base/`, ...ca, ...cluster }
  const config = {
    'current-context': 'c',
    clusters: [{ name: 'k', cluster: about }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
  }
  await writeFile(kubeconfig, JSON.stringify(config))
  return openConnection({ clock, env: environment(port, { kubeconfig }) })
}

async function get(connection: ReturnType<typeof openConnection>): Promise<number> {
  const signal = AbortSignal.timeout(10_000)
  const answer = await connection.send({ method: 'GET', path: '/api?a=1', headers: {}, signal })
  await answer.text()
  return answer.status
}

describe('the service account of a pod', () => {
  test('is trusted by its CA only, and its token is read again after a minute', async () => {
    await using server = await startServer()
    await writeFile(at('token'), 'first\n')
    const connection = openConnection({ clock, env: environment(server.port) })
    expect(await get(connection)).toBe(200)
    await writeFile(at('token'), 'second')
    now_ms += 59_000
    await get(connection)
    now_ms += 2_000
    await get(connection)
    const tokens = server.seen.map(({ headers }) => headers.authorization)
    expect(tokens).toEqual(['Bearer first', 'Bearer first', 'Bearer second'])
  })

  test('a token that the server refused is read again at once', async () => {
    await using server = await startServer()
    await writeFile(at('token'), 'first')
    const connection = openConnection({ clock, env: environment(server.port) })
    await get(connection)
    await writeFile(at('token'), 'second')
    connection.renew()
    await get(connection)
    expect(server.seen.map(({ headers }) => headers.authorization).at(-1)).toBe('Bearer second')
  })

  test('a missing token is an error of each request, until it is there', async () => {
    await using server = await startServer()
    await writeFile(at('token'), 'first')
    const connection = openConnection({ clock, env: environment(server.port) })
    await rm(at('token'))
    await expect(get(connection)).rejects.toThrow(`${at('token')} cannot be read: ENOENT`)
    await writeFile(at('token'), 'first')
    expect(await get(connection)).toBe(200)
  })
})

describe('a user of a kubeconfig', () => {
  test.each([
    [{ token: 'abc' }, { authorization: 'Bearer abc' }],
    [{ username: 'me', password: 'b:c' }, { authorization: `Basic ${btoa('me:b:c')}` }],
    [
      { token: 'abc', as: 'other' },
      { authorization: 'Bearer abc', 'impersonate-user': 'other' },
    ],
  ])('signs in: %j', async (user, headers) => {
    await using server = await startServer()
    expect(await get(await connect(server.port, user))).toBe(200)
    expect(server.seen[0]).toMatchObject({ url: '/base/api?a=1', headers })
  })

  test('signs in with a certificate, from files or data', async () => {
    await using server = await startServer()
    const data = async (name: string) => (await readFile(at(name))).toString('base64')
    const inline = {
      'client-certificate-data': await data('ca.crt'),
      'client-key-data': await data('key.pem'),
    }
    await get(
      await connect(server.port, { 'client-certificate': 'ca.crt', 'client-key': 'key.pem' }),
    )
    await get(await connect(server.port, inline))
    expect(server.seen.map(({ client }) => client)).toEqual(['localhost', 'localhost'])
  })

  test('trusts no other CA and no other name, unless the file says so', async () => {
    await using server = await startServer()
    const stranger = { 'certificate-authority': null }
    await expect(get(await connect(server.port, {}, stranger))).rejects.toThrow('self-signed')
    const misnamed = { 'tls-server-name': 'other.test' }
    await expect(get(await connect(server.port, {}, misnamed))).rejects.toThrow('other.test')
    expect(await get(await connect(server.port, {}, { 'tls-server-name': 'localhost' }))).toBe(200)
    const trusting = { ...stranger, 'insecure-skip-tls-verify': true }
    expect(await get(await connect(server.port, {}, trusting))).toBe(200)
  })

  test('connects through the proxy of the cluster', async () => {
    await using server = await startServer()
    const asked: (string | undefined)[] = []
    const proxy = createProxy().on('connect', ({ url }, client) => {
      asked.push(url)
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      client.pipe(connectTo(server.port, '127.0.0.1')).pipe(client)
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const { port } = proxy.address() as AddressInfo
    const by = { 'proxy-url': `http://127.0.0.1:${port}` }
    expect(await get(await connect(server.port, { token: 'abc' }, by))).toBe(200)
    expect(asked).toEqual([`localhost:${server.port}`])
    expect(server.seen[0]?.headers.authorization).toBe('Bearer abc')
    proxy.close()
  })

  test('sends no credentials over plain HTTP', async () => {
    const plain = { server: 'http://127.0.0.1:1' }
    await expect(connect(1, { token: 'abc' }, plain)).rejects.toThrow('must be an https:// URL')
  })
})

describe('a plugin', () => {
  /** Writes a plugin that answers with a token of its environment, and counts its runs. */
  async function plugin(name: string, status: string): Promise<object> {
    const script = `#!/bin/sh
echo run >> "${at(name)}.runs"
printf '%s' "$KUBERNETES_EXEC_INFO" > "${at(name)}.info"
printf '{"kind":"ExecCredential","status":${status}}' "$GIVEN-$1"
`
    await writeFile(at(name), script)
    await chmod(at(name), 0o755)
    const env = [{ name: 'GIVEN', value: 'x' }]
    const apiVersion = 'client.authentication.k8s.io/v1'
    const more = { args: ['y'], env, interactiveMode: 'Never', provideClusterInfo: true }
    return { exec: { apiVersion, command: `./${name}`, ...more } }
  }
  const runs = async (name: string) => (await readFile(`${at(name)}.runs`, 'utf8')).length / 4

  test('gives a token, which is used until it expires or is refused', async () => {
    await using server = await startServer()
    const expiry = new Date(now_ms + 120_000).toISOString()
    const user = await plugin('expiring', `{"token":"%s","expirationTimestamp":"${expiry}"}`)
    const connection = await connect(server.port, user)
    await get(connection)
    now_ms += 61_000
    await get(connection)
    expect(await runs('expiring')).toBe(1)
    connection.renew()
    await get(connection)
    expect(await runs('expiring')).toBe(2)
    now_ms += 61_000
    await get(connection)
    expect(await runs('expiring')).toBe(3)
    expect(server.seen[0]?.headers.authorization).toBe('Bearer x-y')
    const info = JSON.parse(await readFile(`${at('expiring')}.info`, 'utf8'))
    expect(info).toMatchObject({ kind: 'ExecCredential', spec: { interactive: false } })
    expect(atob(info.spec.cluster['certificate-authority-data'])).toContain('BEGIN CERTIFICATE')
  })

  test('that fails or answers nonsense is named; what it printed is not quoted', async () => {
    await using server = await startServer()
    const silent = await connect(server.port, await plugin('nonsense', '"hush %s"'))
    await expect(get(silent)).rejects.toThrow(/nonsense of the kubeconfig returned no ExecCred/)
    const exec = {
      apiVersion: 'v1',
      command: 'sh',
      args: ['-c', 'echo hush; echo why >&2; exit 3'],
    }
    const failing = await connect(server.port, { exec })
    await expect(get(failing)).rejects.toThrow('the plugin sh of the kubeconfig failed: why')
    const missing = await connect(server.port, { exec: { apiVersion: 'v1', command: 'no-such' } })
    await expect(get(missing)).rejects.toThrow('ENOENT')
  })
})
