import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { problem } from '../../src/kernel/problem.ts'
import { sleep } from '../../src/kernel/time.ts'
import { eventually } from '../support/eventually.ts'
import { grpcFrame, openGrpcStream } from '../support/grpc-stream.ts'
import { tracesProtobuf } from '../support/otlp-message.ts'
import { testReceiver } from '../support/otlp-receiver.ts'

/** Requests that no client library sends, or answers that it hides. */
const body = tracesProtobuf([{ name: 'first' }, { name: 'second' }])
const message = grpcFrame(body)

const requestsOf = (result: string, encoding = 'protobuf') =>
  `looptrace_otlp_requests_total{transport="grpc",encoding="${encoding}",result="${result}"}`
const inflight = 'looptrace_otlp_inflight_bytes'

describe('an accepted call', () => {
  test.each([
    ['from a client that says nothing of trailers', { te: undefined }],
    ['as application/grpc+proto', { 'content-type': 'application/grpc+proto' }],
    ['with parameters of its type', { 'content-type': 'application/grpc; charset=utf-8' }],
    ['that could be packed and is not', { 'grpc-encoding': 'gzip' }],
    ['with an unreadable time-out', { 'grpc-timeout': 'soon' }],
  ])('%s', async (_, headers) => {
    await using receiver = await testReceiver()
    await using stream = openGrpcStream(receiver.grpcAddress, headers)
    stream.end(message)
    const answer = await stream.answer
    expect(answer).toMatchObject({
      ':status': 200,
      'content-type': 'application/grpc',
      'grpc-status': '0',
      'x-ingest-request-id': receiver.requests[0]?.ingest_request_id,
    })
    expect(receiver.names()).toEqual(['first', 'second'])
  })

  test('that arrives byte by byte at first', async () => {
    await using receiver = await testReceiver()
    await using stream = openGrpcStream(receiver.grpcAddress)
    for (const byte of message.subarray(0, 8)) {
      stream.write(Buffer.of(byte))
      await sleep(5)
    }
    stream.end(message.subarray(8))
    expect(await stream.answer).toMatchObject({ 'grpc-status': '0' })
    expect(receiver.names()).toEqual(['first', 'second'])
  })

  test('from a client that is slow and keeps sending', async () => {
    await using receiver = await testReceiver({ settings: { body_idle_timeout_ms: 500 } })
    await using stream = openGrpcStream(receiver.grpcAddress)
    const step = Math.ceil(message.length / 10)
    for (let at = 0; at < message.length; at += step) {
      stream.write(message.subarray(at, at + step))
      await sleep(75)
    }
    stream.end()
    expect(await stream.answer).toMatchObject({ 'grpc-status': '0' })
  })
})

describe('a body that is not one message', () => {
  test.each<[string, Buffer, RegExp]>([
    ['none', Buffer.alloc(0), /is incomplete/],
    ['half a prefix', message.subarray(0, 3), /is incomplete/],
    ['half a message', message.subarray(0, 20), /is incomplete/],
    ['two messages', Buffer.concat([message, message]), /more bytes follow it/],
    ['a message and a byte', Buffer.concat([message, Buffer.of(0)]), /more bytes follow it/],
    ['a prefix of others', grpcFrame(body, 2), /its first byte is 2, expected 0 or 1/],
    ['packed, with no word of how', grpcFrame(body, 1), /grpc-encoding is missing/],
  ])('%s', async (_, bytes, reason) => {
    await using receiver = await testReceiver()
    await using stream = openGrpcStream(receiver.grpcAddress, { 'x-request-id': 'r-1' })
    stream.end(bytes)
    const answer = await stream.answer
    expect(answer).toMatchObject({ ':status': 200, 'grpc-status': '3', 'x-request-id': 'r-1' })
    expect(answer['grpc-message']).toMatch(reason)
    expect(receiver.requests).toHaveLength(0)
    await eventually('its count', () => receiver.counted(requestsOf('invalid_request')))
    expect(await receiver.counted(inflight)).toBe(0)
  })

  test('invalid gzip', async () => {
    await using receiver = await testReceiver()
    await using stream = openGrpcStream(receiver.grpcAddress, { 'grpc-encoding': 'gzip' })
    stream.end(grpcFrame(Buffer.from('plain'), 1))
    expect(await stream.answer).toMatchObject({ 'grpc-status': '3' })
  })

  test('a message in another encoding', async () => {
    await using receiver = await testReceiver()
    await using stream = openGrpcStream(receiver.grpcAddress, { 'grpc-encoding': 'snappy' })
    stream.end(grpcFrame(body, 1))
    const read = { 'grpc-status': '12', 'grpc-accept-encoding': 'identity,gzip' }
    expect(await stream.answer).toMatchObject(read)
  })
})

describe('a client that is still sending is stopped', () => {
  test.each([
    ['by the length it declares', {}, '8'],
    ['without a key', { 'x-api-key': undefined }, '16'],
    ['at an unknown method', { ':path': '/a.Service/Export' }, '12'],
  ])('%s', async (_, headers, status) => {
    await using receiver = await testReceiver({ settings: { body_bytes_max: 100_000 } })
    await using stream = openGrpcStream(receiver.grpcAddress, headers)
    stream.write(grpcFrame(Buffer.alloc(100_001)).subarray(0, 1_000))
    expect(await stream.answer).toMatchObject({ 'grpc-status': status })
    expect(await stream.rst_code).toBe(0)
    await eventually('nothing held', async () => (await receiver.counted(inflight)) === 0)
  })

  test('when it stops sending in the middle of a message', async () => {
    await using receiver = await testReceiver({ settings: { body_idle_timeout_ms: 100 } })
    await using stream = openGrpcStream(receiver.grpcAddress)
    stream.write(message.subarray(0, 20))
    expect(await stream.answer).toMatchObject({ 'grpc-status': '4' })
    await eventually('its end', () => receiver.counted(requestsOf('request_timeout')))
    expect(await receiver.counted(inflight)).toBe(0)
  })
})

describe('requests that are not gRPC get an HTTP status', () => {
  test.each([
    ['json', { 'content-type': 'application/json' }, { ':status': 415 }],
    ['grpc in json', { 'content-type': 'application/grpc+json' }, { ':status': 415 }],
    ['grpc-web', { 'content-type': 'application/grpc-web' }, { ':status': 415 }],
    ['no type', { 'content-type': undefined }, { ':status': 415 }],
    ['another method', { ':method': 'PUT' }, { ':status': 405, allow: 'POST' }],
  ])('%s', async (_, headers, expected) => {
    await using receiver = await testReceiver()
    await using stream = openGrpcStream(receiver.grpcAddress, headers)
    stream.end(message)
    const answer = await stream.answer
    expect(answer).toMatchObject(expected)
    expect(answer).not.toHaveProperty('grpc-status')
    expect(receiver.requests).toHaveLength(0)
    const result = expected[':status'] === 415 ? 'unsupported_media_type' : 'method_not_allowed'
    await eventually('its count', () => receiver.counted(requestsOf(result, 'none')))
  })

  test('an HTTP/1.1 client is disconnected', async () => {
    await using receiver = await testReceiver()
    const socket = connect(receiver.grpc.port, '127.0.0.1')
    socket.on('error', () => undefined).resume()
    socket.write('POST /v1/traces HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n')
    await new Promise((resolve) => socket.once('close', resolve))
    await using stream = openGrpcStream(receiver.grpcAddress)
    stream.end(message)
    expect(await stream.answer).toMatchObject({ 'grpc-status': '0' })
  })

  test.each([
    ['of the receiver', 33_000],
    ['of HTTP/2', 200_000],
  ])('headers beyond the limit %s reach no queue, and close only the stream', async (_, bytes) => {
    await using receiver = await testReceiver()
    const large = { baggage: `a=${'x'.repeat(bytes)}` }
    await using stream = openGrpcStream(receiver.grpcAddress, large)
    stream.end(message)
    const answer = await stream.answer
    if (bytes < 60_000) expect(answer).toMatchObject({ 'grpc-status': '8' })
    expect(answer).not.toHaveProperty('grpc-status', '0')
    expect(receiver.requests).toHaveLength(0)
  })
})

test('an error’s text is percent-encoded', async () => {
  const capture = () => {
    throw problem('invalid_request', { detail: '100 % naïve\n' })
  }
  await using receiver = await testReceiver({ capture })
  await using stream = openGrpcStream(receiver.grpcAddress)
  stream.end(message)
  expect(await stream.answer).toMatchObject({ 'grpc-message': '100 %25 na%C3%AFve%0A' })
})

describe('a client that does not wait', () => {
  test('disconnects in the middle of a message', async () => {
    await using receiver = await testReceiver()
    await using stream = openGrpcStream(receiver.grpcAddress)
    stream.write(message.subarray(0, 20))
    await eventually('its bytes', async () => (await receiver.counted(inflight)) === 20)
    await stream[Symbol.asyncDispose]()
    await eventually('its end', () => receiver.counted(requestsOf('client_gone')))
    expect(await receiver.counted(inflight)).toBe(0)
    await receiver.receiver.drain()
  })

  test('cancels its call in the middle of a message', async () => {
    await using receiver = await testReceiver()
    await using stream = openGrpcStream(receiver.grpcAddress)
    stream.write(message.subarray(0, 20))
    await eventually('its bytes', async () => (await receiver.counted(inflight)) === 20)
    stream.cancel()
    await eventually('its end', () => receiver.counted(requestsOf('client_gone')))
    expect(await receiver.counted(inflight)).toBe(0)
  })

  test('cancels its call before the queue: it counts until it is done', async () => {
    const open = Promise.withResolvers<void>()
    await using receiver = await testReceiver({ gate: open.promise })
    await using stream = openGrpcStream(receiver.grpcAddress)
    stream.end(message)
    await eventually('its bytes', async () => ((await receiver.counted(inflight)) ?? 0) > 0)
    stream.cancel()
    await stream.answer
    expect(await receiver.counted(inflight)).toBe(message.length)
    open.resolve()
    await receiver.receiver.drain()
    expect(await receiver.counted(inflight)).toBe(0)
  })

  test('waits as long as its grpc-timeout says', async () => {
    const open = Promise.withResolvers<void>()
    await using receiver = await testReceiver({ gate: open.promise })
    await using stream = openGrpcStream(receiver.grpcAddress, { 'grpc-timeout': '50m' })
    stream.end(message)
    expect(await stream.answer).toMatchObject({ 'grpc-status': '4' })
    open.resolve()
    await receiver.receiver.drain()
    expect(await receiver.counted(requestsOf('request_timeout'))).toBe(1)
  })
})

describe('the connection', () => {
  test('announces its limit of calls, sends pings, and says goodbye', async () => {
    await using receiver = await testReceiver()
    const options = { host: '127.0.0.1', port: 0, streams_max: 7, keepalive_ms: 50 }
    const grpc = await receiver.receiver.listenGrpc(options)
    await using stream = openGrpcStream(`127.0.0.1:${grpc.port}`)
    expect(await stream.settings).toMatchObject({ maxConcurrentStreams: 7 })
    await stream.ping
    const closed = grpc.close(10_000)
    expect(await stream.goaway).toBe(0)
    stream.end(message)
    expect(await stream.answer).toMatchObject({ 'grpc-status': '0' })
    await closed
  })

  test('that is silent does not delay the end', async () => {
    await using receiver = await testReceiver()
    const socket = connect(receiver.grpc.port, '127.0.0.1')
    socket.on('error', () => undefined).resume()
    await new Promise((resolve) => socket.once('connect', resolve))
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await receiver.grpc.close(50)
    await closed
  })
})
