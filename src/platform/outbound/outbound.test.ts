import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { type Address, OutboundFailed, openOutbound, parseAllowedNetwork } from './index.ts'

const servers = new Set<{ close(): void }>()
afterEach(() => {
  for (const server of servers) server.close()
  servers.clear()
})

async function serve(listener: RequestListener) {
  const seen: IncomingMessage[] = []
  const server = createServer((request, response) => {
    seen.push(request)
    listener(request, response)
  }).listen(0, '127.0.0.1')
  servers.add({ close: () => server.close() && server.closeAllConnections() })
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  return { seen, port, url: `http://127.0.0.1:${port}` }
}

/** An outbound that may reach the ports on this machine. */
function outboundTo(ports: readonly number[], names: Record<string, readonly string[][]> = {}) {
  const asked: string[] = []
  const allowed = ports.map((port) => parseAllowedNetwork(`127.0.0.1/32:${port}`))
  const resolve = async (host: string): Promise<readonly Address[]> => {
    const answers = names[host] ?? []
    const answer = answers[Math.min(asked.filter((one) => one === host).length, answers.length - 1)]
    asked.push(host)
    if (answer === undefined) throw new Error('ENOTFOUND')
    return answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
  return { ...openOutbound({ allowed, resolve }), asked }
}

async function failureOf(work: Promise<unknown>): Promise<OutboundFailed> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(OutboundFailed)
  return error as OutboundFailed
}

test('a reply of any status has its headers and body', async () => {
  const { url, port, seen } = await serve((_, response) =>
    response.writeHead(418, { 'x-kind': 'tea' }).end('short and stout'),
  )
  const headers = { 'content-type': 'application/json', 'x-own': '1' }
  const reply = await outboundTo([port]).send({
    ...{ url: `${url}/hook?a=b`, method: 'POST', headers, body: '{}' },
  })
  expect([reply.status, reply.headers['x-kind'], String(reply.body)]).toEqual([
    ...[418, 'tea', 'short and stout'],
  ])
  const [request] = seen
  expect([request?.method, request?.url, request?.headers['x-own']]).toEqual([
    ...['POST', '/hook?a=b', '1'],
  ])
  expect(Object.keys(request?.headers ?? {}).toSorted()).toEqual([
    ...['connection', 'content-length', 'content-type', 'host', 'x-own'],
  ])
})

describe('a literal address is refused before a connection, in each spelling', () => {
  test.each([
    'http://127.0.0.1',
    'http://2130706433',
    'http://0x7f.1',
    'http://0177.0.0.1',
    'http://127.1',
    'http://[::1]',
    'http://[::ffff:7f00:1]',
    'http://[::ffff:127.0.0.1]',
    'http://[64:ff9b::7f00:1]',
    'http://[2002:7f00:1::]',
    'http://１２７.０.０.１',
    'http://①②⑦.0.0.1',
    'http://127.0.0.1.',
    'http://0',
    'http://169.254.169.254/latest/meta-data',
  ])('%s', async (base) => {
    const { port, seen } = await serve((_, response) => response.end())
    const url = new URL(base)
    url.port = String(port)
    const { code, reached, message } = await failureOf(
      openOutbound({ allowed: [] }).send({ url: url.href, method: 'GET' }),
    )
    expect([code, reached, seen.length]).toEqual(['refused', false, 0])
    expect(message).toContain(`port ${port} is not allowed`)
  })
})

test.each([
  ['file:///etc/passwd', 'the URL is not an absolute http or https URL'],
  ['ftp://example.com', 'the URL is not an absolute http or https URL'],
  ['gopher://example.com', 'the URL is not an absolute http or https URL'],
  ['/hook', 'the URL is not an absolute http or https URL'],
  ['http://', 'the URL is not an absolute http or https URL'],
  ['https://user:secret@example.com', 'which a URL must not carry'],
])('%s is refused', async (url, message) => {
  const failure = await failureOf(outboundTo([]).send({ url, method: 'GET' }))
  expect([failure.code, failure.message]).toEqual(['refused', expect.stringContaining(message)])
  expect(failure.message).not.toContain('secret')
})

describe('a name', () => {
  test('goes to the address that was checked, with its own Host', async () => {
    const { port, seen } = await serve((_, response) => response.end('ok'))
    const outbound = outboundTo([port], { 'hooks.test': [['127.0.0.1']] })
    const reply = await outbound.send({ url: `http://hooks.test:${port}/`, method: 'GET' })
    expect(reply.status).toBe(200)
    expect(seen[0]?.headers.host).toBe(`hooks.test:${port}`)
    expect(outbound.asked).toEqual(['hooks.test'])
  })

  test('with one forbidden address among its addresses is refused, without naming them', async () => {
    const { port, seen } = await serve((_, response) => response.end())
    const outbound = outboundTo([port], { 'two.test': [['127.0.0.1', '10.4.5.6']] })
    const failure = await failureOf(
      outbound.send({ url: `http://two.test:${port}/secret-path`, method: 'GET' }),
    )
    expect([failure.code, seen.length]).toEqual(['refused', 0])
    expect(failure.message).not.toMatch(/10\.4|127\.0|secret-path/)
  })

  test('that changes its address between two questions is asked once', async () => {
    const allowed = await serve((_, response) => response.end('allowed'))
    const outbound = outboundTo([allowed.port], { 'rebind.test': [['127.0.0.1'], ['10.0.0.1']] })
    const url = `http://rebind.test:${allowed.port}/`
    expect(String((await outbound.send({ url, method: 'GET' })).body)).toBe('allowed')
    expect((await failureOf(outbound.send({ url, method: 'GET' }))).code).toBe('refused')
    expect(outbound.asked).toHaveLength(2)
  })

  test('that is unknown, or has no address, fails as unresolved', async () => {
    const outbound = outboundTo([], { 'empty.test': [[]] })
    for (const host of ['unknown.test', 'empty.test']) {
      const failure = await failureOf(outbound.send({ url: `http://${host}/`, method: 'GET' }))
      expect([failure.code, failure.reached]).toEqual(['unresolved', false])
    }
  })

  test('shows its user the same, whether it is unknown or not allowed', async () => {
    const names = { 'inside.test': [['10.4.5.6']], 'empty.test': [[]] }
    const shown = async (host: string, port: number) => {
      const sent = outboundTo([], names).send({ url: `http://${host}:${port}/`, method: 'GET' })
      const failure = await failureOf(sent)
      expect(failure.isNameRefused).toBe(true)
      return failure.shown.replaceAll(host, 'HOST')
    }
    for (const port of [80, 8_080]) {
      const inside = await shown('inside.test', port)
      expect(await shown('unknown.test', port)).toBe(inside)
      expect(await shown('empty.test', port)).toBe(inside)
    }
  })

  test('is the server name of TLS', async () => {
    const names: string[] = []
    const server = createTlsServer({
      SNICallback: (name, answer) => {
        names.push(name)
        answer(new Error('no certificate'))
      },
    }).listen(0, '127.0.0.1')
    servers.add(server)
    server.on('tlsClientError', () => undefined)
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const outbound = outboundTo([port], { 'tls.test': [['127.0.0.1']] })
    const failure = await failureOf(
      outbound.send({ url: `https://tls.test:${port}/`, method: 'GET' }),
    )
    expect([failure.code, failure.reached, names]).toEqual(['connection', false, ['tls.test']])
  })
})

describe('servers of the configuration', () => {
  const resolve = async (host: string): Promise<readonly Address[]> =>
    host.endsWith('.test') ? [{ address: '127.0.0.1', family: 4 }] : []

  test('a trusted host is reached on a private address and any port, no other host is', async () => {
    const { port, seen } = await serve((_, response) => response.end('ok'))
    const trusted_hosts = ['judge.test', '127.0.0.1']
    const outbound = openOutbound({ allowed: [], trusted_hosts, resolve })
    for (const host of ['judge.test', 'JUDGE.test', '127.0.0.1', '0x7f.1']) {
      expect((await outbound.send({ url: `http://${host}:${port}/`, method: 'POST' })).status).toBe(
        200,
      )
    }
    for (const host of ['other.test', 'a.judge.test', '127.0.0.2', '[::1]', 'judge.test.']) {
      const failure = await failureOf(
        outbound.send({ url: `http://${host}:${port}/`, method: 'POST' }),
      )
      expect([host, failure.reached]).toEqual([host, false])
    }
    expect(seen).toHaveLength(4)
  })

  test('a public port opens no private address', async () => {
    const { port, seen } = await serve((_, response) => response.end())
    const outbound = openOutbound({ allowed: [], resolve })
    const public_ports = [80, 443, port]
    for (const host of ['own.test', '127.0.0.1', '[::ffff:127.0.0.1]']) {
      const url = `http://${host}:${port}/`
      expect((await failureOf(outbound.send({ url, method: 'POST', public_ports }))).code).toBe(
        'refused',
      )
    }
    expect(seen).toEqual([])
  })

  test('a redirect of a trusted host to a private address is refused', async () => {
    const other = await serve((_, response) => response.end('secret'))
    const { port } = await serve((_, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${other.port}/` }).end(),
    )
    const outbound = openOutbound({ allowed: [], trusted_hosts: ['judge.test'], resolve })
    const url = `http://judge.test:${port}/`
    const failure = await failureOf(outbound.send({ url, method: 'GET', redirects: 5 }))
    expect([failure.code, other.seen.length]).toEqual(['refused', 0])
  })
})

describe('redirects', () => {
  test('are the reply by default', async () => {
    const { url, port } = await serve((_, response) =>
      response.writeHead(302, { location: '/next' }).end(),
    )
    const reply = await outboundTo([port]).send({ url, method: 'POST', redirects: 5 })
    expect(reply.status).toBe(302)
  })

  test('are followed for GET, and to another origin without the headers', async () => {
    const second = await serve((_, response) => response.end('there'))
    const first = await serve(({ url }, response) =>
      response.writeHead(307, { location: url === '/' ? '/on' : second.url }).end(),
    )
    const headers = { authorization: 'Bearer own' }
    const reply = await outboundTo([first.port, second.port]).send({
      ...{ url: `${first.url}/`, method: 'GET', headers, redirects: 5 },
    })
    expect([String(reply.body), reply.url]).toEqual(['there', `${second.url}/`])
    expect(first.seen.map((one) => one.headers.authorization)).toEqual(['Bearer own', 'Bearer own'])
    expect(second.seen[0]?.headers).not.toHaveProperty('authorization')
    expect(second.seen[0]?.headers).not.toHaveProperty('referer')
  })

  test.each([
    'http://169.254.169.254/latest',
    'http://[::1]/',
    'file:///etc/passwd',
    'http://a:b@example.com',
  ])('to %s are refused', async (location) => {
    const { url, port } = await serve((_, response) => response.writeHead(302, { location }).end())
    const failure = await failureOf(outboundTo([port]).send({ url, method: 'GET', redirects: 5 }))
    expect(failure.code).toBe('refused')
  })

  test('end after five', async () => {
    const { url, port, seen } = await serve((_, response) =>
      response.writeHead(302, { location: '/' }).end(),
    )
    const failure = await failureOf(outboundTo([port]).send({ url, method: 'GET', redirects: 99 }))
    expect([failure.code, seen.length]).toEqual(['redirects', 6])
  })
})

describe('a reply', () => {
  const limits = { bytes: 1_000, decoded_bytes: 5_000 }

  test('that is compressed is decoded', async () => {
    const { url, port } = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('a'.repeat(5_000))),
    )
    const reply = await outboundTo([port]).send({ url, method: 'GET', limits })
    expect(reply.body).toHaveLength(5_000)
  })

  test.each([
    ['too many bytes', {}, Buffer.alloc(1_001), 'too_large'],
    ['a bomb', { 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(500_000)), 'too_large'],
    ['a broken gzip', { 'content-encoding': 'gzip' }, Buffer.from('abc'), 'encoding'],
    ['an unknown encoding', { 'content-encoding': 'zstd2' }, Buffer.from('abc'), 'encoding'],
  ])('with %s fails', async (_, headers, body, code) => {
    const { url, port } = await serve((_request, response) =>
      response.writeHead(200, headers).end(body),
    )
    const failure = await failureOf(outboundTo([port]).send({ url, method: 'GET', limits }))
    expect([failure.code, failure.reached]).toEqual([code, true])
  })

  test('is cut where the caller asks for it', async () => {
    const { url, port } = await serve((_, response) => response.end('a'.repeat(100_000)))
    const reply = await outboundTo([port]).send({ url, method: 'POST', cut_at_bytes: 2_048 })
    expect([reply.status, reply.body.length, reply.isCut]).toEqual([200, 2_048, true])
  })

  test('that drips is ended at the time-out, although bytes come', async () => {
    const { url, port } = await serve((_, response) => {
      const drip = setInterval(() => response.write('.'), 20)
      response.on('close', () => clearInterval(drip))
    })
    const failure = await failureOf(
      outboundTo([port]).send({ url, method: 'GET', timeout_ms: 300 }),
    )
    expect([failure.code, failure.reached]).toEqual(['timeout', true])
  })
})

test('a name server that does not answer ends at the time-out', async () => {
  const outbound = openOutbound({ allowed: [], resolve: () => new Promise(() => undefined) })
  const failure = await failureOf(
    outbound.send({ url: 'http://slow.test', method: 'GET', timeout_ms: 50 }),
  )
  expect([failure.code, failure.reached]).toEqual(['timeout', false])
})

test('a caller ends its request', async () => {
  const { url, port } = await serve(() => undefined)
  const ending = new AbortController()
  const sent = outboundTo([port]).send({ url, method: 'GET', signal: ending.signal })
  ending.abort()
  expect((await failureOf(sent)).code).toBe('aborted')
})

test('a closed port fails as a connection that reached nothing', async () => {
  const { port } = await serve(() => undefined)
  for (const server of servers) server.close()
  const failure = await failureOf(
    outboundTo([port]).send({ url: `http://127.0.0.1:${port}`, method: 'GET' }),
  )
  expect([failure.code, failure.reached]).toEqual(['connection', false])
})
