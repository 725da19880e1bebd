import { describe, expect, test } from 'vitest'
import { agentRun } from '../../../../../test/corpus/agent-run.ts'
import { findingsOf } from '../../../../../test/support/failure-findings.ts'
import { duplicateSideEffect } from './duplicate-side-effect.ts'

const pay = { name: 'create_payment', args: { invoice: 881 } }

test('an invoice is paid twice', () => {
  const run = agentRun('twice')
    .user('Pay invoice 7 of release 2.0.')
    .tool(pay, '{"id":"p-1"}')
    .tool({ name: 'get_balance' }, '8400')
    .tool(pay, '{"id":"p-2"}')
    .assistant('Paid.')
  expect(findingsOf(duplicateSideEffect, run)).toMatchObject([
    { type: 'duplicate_side_effect', severity: 'high', start_step: 2, repeats: 2 },
  ])
})

test('parallel in one answer, although the arguments contain a count', () => {
  const order = { name: 'place_order', args: { item: 'water', crates: 2 } }
  const run = agentRun('parallel')
    .user('Order two crates of water.')
    .assistant({ calls: [order, order] })
    .results(['{"order":"o-1"}', '{"order":"o-2"}'])
    .assistant('Ordered.')
  expect(findingsOf(duplicateSideEffect, run)).toMatchObject([{ start_step: 0 }])
})

test('an undone one is recovered', () => {
  const run = agentRun('undone')
    .user('Pay invoice 881.')
    .tool(pay, 'p-1')
    .tool(pay, 'p-2')
    .tool({ name: 'refund', args: { payment: 'p-2' } }, 'refunded')
    .assistant('Paid once.')
  expect(findingsOf(duplicateSideEffect, run)).toMatchObject([{ recovered: true, severity: 'low' }])
})

describe('healthy twins', () => {
  test('several are asked for before the user agrees', () => {
    const buy = { name: 'buy_ticket', args: { event: 'E-77' } }
    const run = (wish: string) =>
      agentRun(wish)
        .user(wish)
        .assistant('Tin Roof Tour, standing, 31 each. Buy?')
        .user('yes')
        .tool(buy, '{"ticket":"t-1"}')
        .tool(buy, '{"ticket":"t-2"}')
        .assistant('Here they are: t-1 and t-2.')
    expect(findingsOf(duplicateSideEffect, run('three standing tickets E-77'))).toEqual([])
    expect(findingsOf(duplicateSideEffect, run('a standing ticket for E-77'))).toHaveLength(1)
  })

  test('several were asked for some messages before', () => {
    const buy = { name: 'buy_ticket', args: { event: 'E-77' } }
    const run = (wish: string) =>
      agentRun(`earlier ${wish}`)
        .user(wish)
        .assistant('Which row?')
        .user('row 5')
        .assistant('31 each. Buy?')
        .user('yes')
        .tool(buy, '{"ticket":"t-1"}')
        .tool(buy, '{"ticket":"t-2"}')
        .assistant('Here they are: t-1 and t-2.')
    expect(findingsOf(duplicateSideEffect, run('two tickets for E-77'))).toEqual([])
    expect(findingsOf(duplicateSideEffect, run('a ticket for E-77'))).toHaveLength(1)
  })

  const none = (run: ReturnType<typeof agentRun>) =>
    expect(findingsOf(duplicateSideEffect, run)).toEqual([])

  test.each(['refund_state', 'booking_options', 'cancel_fee', 'order-progress'])(
    'asking again by %s changes nothing',
    (name) => {
      const ask = { name, args: { id: 'RF-2' } }
      none(
        agentRun('again')
          .user('Refund one, please.')
          .tool(ask, '{"id":"RF-2","state":"pending"}')
          .tool(ask, '{"id":"RF-2","state":"approved","amount":14.00}')
          .assistant('It is approved.'),
      )
    },
  )

  test('a result that reads like an error is not a success', () => {
    const said = 'MCP error -32602: Invalid params'
    none(agentRun('mcp').user('Pay.').tool(pay, said).tool(pay, said).assistant('x'))
  })

  test.each([
    '{"ok":false,"reason":"cvc"}',
    '{ "booked": false, "next_free": "10:40" }',
    '{"status":"declined"}',
    '{"ok":true,"message":"The card was declined."}',
    '{"status":"submitted","payment":{"status":"declined"}}',
    'The terminal is busy, try again in a minute.',
    'Slot 9:15 is no longer available.',
    '{"sent":0,"message":"mailbox unavailable"}',
    'Zahlung abgelehnt',
    'paiement refusé, réessayez',
    'pago rechazado',
    '支付失败',
  ])('a first attempt that was answered %s', (first) => {
    none(agentRun('no').user('Pay.').tool(pay, first).tool(pay, '{"id":"p-2"}').assistant('x'))
  })

  test.each([
    '{"sent":true,"error":null}',
    '{"status":"queued"}',
    '{"ok":true,"available":false}',
    '{"status":"booked","note":"other sizes are unavailable"}',
  ])('but %s is a success', (first) => {
    const run = agentRun('yes').user('Pay.').tool(pay, first).tool(pay, '{"id":"p-2"}')
    expect(findingsOf(duplicateSideEffect, run.assistant('Paid.'))).toHaveLength(1)
  })

  test('the first attempt failed', () => {
    none(
      agentRun('retry').user('Pay.').tool(pay, 'Error: no funds').tool(pay, 'p-1').assistant('x'),
    )
  })

  test('the user asks for one more, or for two at once', () => {
    none(agentRun('more').user('Pay.').tool(pay, 'p-1').user('Once more').tool(pay, 'p-2'))
    none(agentRun('3').user('Buy 3 tickets.').tool(pay, 'p-1').tool(pay, 'p-2').assistant('x'))
    none(agentRun('two').user('Send it twice.').tool(pay, 'p-1').tool(pay, 'p-2').assistant('x'))
  })

  test('an idempotency key, or a result that says so', () => {
    const keyed = { name: 'create_payment', args: { invoice: 8, idempotency_key: 'k' } }
    none(agentRun('key').user('Pay.').tool(keyed, 'p-1').tool(keyed, 'p-1').assistant('x'))
    none(agentRun('was').user('Pay.').tool(pay, 'p-1').tool(pay, 'already paid').assistant('x'))
  })

  test('reading, editing and writing to oneself', () => {
    for (const name of [
      'get_order',
      'order_status',
      'create',
      'send_keys',
      'create_plan',
      'save',
    ]) {
      const call = { name, args: { a: 1 } }
      none(agentRun(name).user('x').tool(call, 'ok').tool(call, 'ok').assistant('y'))
    }
  })
})
