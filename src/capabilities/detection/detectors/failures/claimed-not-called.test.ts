import { describe, expect, test } from 'vitest'
import { type AgentRun, agentRun } from '../../../../../test/corpus/agent-run.ts'
import { findingsOf } from '../../../../../test/support/failure-findings.ts'
import { claimedNotCalled } from './claimed-not-called.ts'

const tools = ['get_member', 'cancel_membership', 'send_letter', 'check_outage']
const member = { name: 'get_member', args: { no: '5120' } }

function asked(name: string): AgentRun {
  return agentRun(name, { tools })
    .user('Cancel my membership, and send me a letter.')
    .tool(member, '{"no":"5120","next_cancel_date":"2027-09-30"}')
}

test('an action whose tool was never called', () => {
  const run = asked('never').assistant("I've cancelled your membership to 30 September 2027.")
  expect(findingsOf(claimedNotCalled, run)).toMatchObject([
    {
      type: 'claimed_not_called',
      severity: 'low',
      start_step: 1,
      evidence: { tool: 'cancel_membership', calls: 0 },
    },
  ])
  const passive = asked('passive').assistant('The letter has been sent to you.')
  expect(findingsOf(claimedNotCalled, passive)).toMatchObject([
    { evidence: { tool: 'send_letter' } },
  ])
})

test('is medium only if nothing at all was called in the turn', () => {
  const run = agentRun('nothing', { tools })
    .user('Cancel my membership.')
    .assistant("I've cancelled your membership.")
  expect(findingsOf(claimedNotCalled, run)).toMatchObject([{ severity: 'medium' }])
})

test('five of which two were dealt with', () => {
  const run = (calls: number, answer: string) =>
    agentRun(`${calls} ${answer}`, { tools: ['update_reservation_flights'] })
      .user('Please downgrade all my flights to economy.')
      .times(calls, (agent, at) =>
        agent.tool(
          {
            name: 'update_reservation_flights',
            args: { reservation_id: `R${at}`, cabin: 'economy' },
          },
          '{"status":"ok"}',
        ),
      )
      .assistant(answer)
  const all = 'All five reservations have been downgraded to economy.'
  expect(findingsOf(claimedNotCalled, run(2, all))).toMatchObject([
    { summary: expect.stringContaining('called for 2 of 5'), evidence: { calls: 2 } },
  ])
  expect(findingsOf(claimedNotCalled, run(5, all))).toEqual([])
  expect(findingsOf(claimedNotCalled, run(2, 'Two of the five reservations are done.'))).toEqual([])
})

test('a check that was not made is low', () => {
  const run = asked('outage').assistant("I've checked your area: there's no outage there.")
  expect(findingsOf(claimedNotCalled, run)).toMatchObject([{ severity: 'low' }])
})

test('a call after the claim lowers the severity', () => {
  const run = asked('late')
    .assistant("I've cancelled your membership.")
    .user('Are you sure?')
    .tool({ name: 'cancel_membership', args: { no: '5120' } }, 'ok')
    .assistant('Yes.')
  expect(findingsOf(claimedNotCalled, run)).toMatchObject([{ severity: 'info', recovered: true }])
})

describe('healthy twins', () => {
  test.each([
    ['the tool was called', "I've cancelled your membership.", { name: 'cancel_membership' }],
    ['another change did it', "I've cancelled your membership.", { name: 'close_contract' }],
  ])('%s', (_what, answer, call) => {
    expect(
      findingsOf(
        claimedNotCalled,
        asked(answer + call.name)
          .tool(call, 'ok')
          .assistant(answer),
      ),
    ).toEqual([])
  })

  test.each([
    'I have not cancelled your membership.',
    "I haven't cancelled your membership yet.",
    "Once I've cancelled your membership, I will write.",
    'Shall I say that your membership has been cancelled?',
    'Your membership can be cancelled to 30 September.',
    'I have found your membership.',
    'I have cancelled nothing.',
    'Your subscription has been sent to our archive.',
    'Your membership was cancelled in 2019.',
  ])('no claim: %s', (answer) => {
    expect(findingsOf(claimedNotCalled, asked(answer).assistant(answer))).toEqual([])
  })

  test('a result, or the user, said so', () => {
    const run = agentRun('stated', { tools })
      .user('Is my membership cancelled?')
      .tool(member, '{"no":"5120","state":"cancelled on request"}')
      .assistant('Your membership has been cancelled.')
    expect(findingsOf(claimedNotCalled, run)).toEqual([])
  })

  const once = (tool: string, answer: string, name = answer) =>
    agentRun(name, { tools: ['get_order', tool] })
      .user('Go on, please.')
      .assistant(answer)

  test.each([
    ['create_itinerary', "I've created an itinerary for you: Day 1 Rome, day 2 Naples."],
    ['create_plan', "I've created a plan.\n\n- Monday: rest\n- Tuesday: run"],
    ['update_email', "I've updated the email: Dear Sir, we thank you."],
  ])('the answer has the text itself: %s', (tool, answer) => {
    expect(findingsOf(claimedNotCalled, once(tool, answer))).toEqual([])
  })

  test.each(['{"status":"canceled"}', '{"Status":"storniert"}'])('a result has %s', (result) => {
    const run = agentRun(result, { tools: ['get_order', 'cancel_order'] })
      .user('Where is order 55?')
      .user('I wait for it.')
      .tool({ name: 'get_order', args: { id: 55 } }, result)
      .assistant('Order 55 has been cancelled because it was not paid.')
    expect(findingsOf(claimedNotCalled, run)).toEqual([])
  })

  test.each([
    [{ name: 'api_request', args: { method: 'POST', path: '/orders/55/cancel' } }, 'ok'],
    [{ name: 'delegate', args: { to: 'desk' } }, 'Cancellation complete.'],
  ])('it was done another way: %j', (call, result) => {
    const run = agentRun(call.name, { tools: [call.name, 'cancel_order'] })
      .user('Cancel order 55.')
      .tool(call, result)
      .assistant("I've cancelled order 55.")
    expect(findingsOf(claimedNotCalled, run)).toEqual([])
  })

  test('a list in an argument, and one that was cancelled before', () => {
    const list = agentRun('list', { tools: ['cancel_orders'] })
      .user('Cancel my three orders.')
      .tool({ name: 'cancel_orders', args: { order_ids: '1,2,3' } }, 'ok')
      .assistant('All three orders have been cancelled.')
    expect(findingsOf(claimedNotCalled, list)).toEqual([])
    const before = agentRun('before', { tools: ['get_order', 'cancel_order'] })
      .user('Cancel my two orders.')
      .tool({ name: 'get_order', args: { order_id: 1 } }, '{"order_id":1,"status":"cancelled"}')
      .tool({ name: 'cancel_order', args: { order_id: 2 } }, 'ok')
      .assistant('Your two orders have been cancelled.')
    expect(findingsOf(claimedNotCalled, before)).toEqual([])
  })

  test('the request declares no such tool', () => {
    const run = agentRun('undeclared', { tools: ['get_member'] })
      .user('Cancel my membership.')
      .tool(member, '{"no":"5120"}')
      .assistant("I've cancelled your membership.")
    expect(findingsOf(claimedNotCalled, run)).toEqual([])
  })
})

/** A request, a reading call, and an answer in the words of others. */
const claimed = (tool: string, said: string, answer: string, result = '{"state":"active"}') =>
  agentRun(tool + said + answer, { tools: ['get_it', tool] })
    .user(said)
    .tool({ name: 'get_it', args: { id: 7 } }, result)
    .assistant(answer)

describe('claims in other words', () => {
  test.each([
    ['cancel_order', 'please cancel 9912', 'Done! Your order is cancelled.'],
    [
      'update_address',
      'my new address is Elm St 4',
      'I went ahead and changed your address to Elm St 4.',
    ],
    ['block_sim', 'lost my phone!! sim 8812', "I've just blocked SIM 8812."],
    ['waitlist_add', 'put me on the list', "You're now on the waiting list for tonight."],
    ['change_plan', 'move me to Mini', 'All set, you have been switched to Mini.'],
    ['pause_subscription', 'pause till july', 'Your subscription is on hold until July.'],
    ['add_item', 'add oat milk', 'Oat milk is in your cart now.'],
    [
      'redirect_parcel',
      'parcel 71 to the kiosk',
      'Your parcel 71 has been redirected to the kiosk.',
    ],
    ['cancelar_reserva', 'cancela la reserva 88', 'Listo, he cancelado la reserva 88.'],
    ['annuler_sejour', 'annulez le séjour 12', "C'est fait, j'ai annulé votre séjour 12."],
  ])('%s: %s', (tool, said, answer) => {
    expect(findingsOf(claimedNotCalled, claimed(tool, said, answer))).toMatchObject([
      { evidence: { tool } },
    ])
  })

  test('are quoted as they were written', () => {
    const run = claimed('block_sim', 'lost my phone', "I've just blocked SIM 8812 at Vireo.")
    expect(findingsOf(claimedNotCalled, run)).toMatchObject([
      { summary: expect.stringContaining("“I've just blocked SIM 8812 at Vireo.”") },
    ])
  })

  test.each<[tool: string, said: string, answer: string, result?: string]>([
    [
      'cancel_order',
      'is 9912 cancelled?',
      'Yes, order 9912 is cancelled.',
      '{"status":"cancelled"}',
    ],
    [
      'pause_subscription',
      'pause till july',
      'Deliveries are stopped until July then. Shall I pause it?',
    ],
    ['renew_permit', 'renew P-9', "Permits that are renewed can't be cancelled."],
    ['add_item', "what's in my cart", 'Bread and oat milk are in your cart.'],
    [
      'create_ticket',
      'there is a ticket already',
      'Yes, ticket T-5 is open.',
      '{"tickets":["T-5 open"]}',
    ],
    ['waitlist_add', 'spin tonight', "You're on the waiting list already."],
  ])('healthy: %s: %s', (tool, said, answer, result) => {
    expect(findingsOf(claimedNotCalled, claimed(tool, said, answer, result))).toEqual([])
  })
})

describe('the words of a declared tool tell what was asked for', () => {
  const tool = (name: string, description: string) => ({ name, description })
  const agreed = (
    change: { name: string; description: string },
    [said, offer, reply, answer]: readonly [string, string, string, string],
  ) =>
    agentRun(offer + answer, { tools: [tool('lookup', 'Look up'), change] })
      .user(said)
      .assistant(offer)
      .user(reply)
      .assistant(answer)
  const callback = tool('rueckruf', 'Rückruf eintragen')
  const card = tool('bloquer_carte', 'Bloquer une carte bancaire')
  const level = tool('escalate', 'Hand a ticket to second level')

  test.each([
    [
      callback,
      'medium',
      [
        'Rückruf morgen?',
        'Soll ich einen Rückruf eintragen?',
        'ja',
        'Der Rückruf ist eingetragen.',
      ],
    ],
    [
      card,
      'medium',
      ['Carte perdue', 'Voulez-vous bloquer la carte ?', 'oui', 'Votre carte est bloquée.'],
    ],
    [
      level,
      'low',
      [
        '5510 is stuck',
        'Shall I hand it to the second level?',
        'do it',
        'My colleagues there now have it.',
      ],
    ],
  ] as const)('$0.name, %s', (change, severity, words) => {
    expect(findingsOf(claimedNotCalled, agreed(change, words))).toMatchObject([
      { severity, evidence: { tool: change.name } },
    ])
  })

  test.each([
    [callback, ['Sonntag?', 'Ginge ein Rückruf am Montag?', 'nein, lass', 'Gut, dann nicht.']],
    [callback, ['Rückruf?', 'Soll ich erklären, wie das geht?', 'ja', 'Sie nennen mir eine Zeit.']],
    [card, ['Carte ?', 'Voulez-vous bloquer la carte ?', 'oui', 'Quelle carte, s’il vous plaît ?']],
    [level, ['5510', 'Shall I hand it to the second level?', 'let me ask first', 'Of course.']],
    [
      level,
      ['5510', 'Shall I hand it to level two or wait?', 'ok, wait', 'All right, it stays here.'],
    ],
    [
      level,
      ['5510', 'Shall I hand it to the second level?', 'yes', 'Once it is 14 days old I will.'],
    ],
  ] as const)('healthy: $0.name: %j', (change, words) => {
    expect(findingsOf(claimedNotCalled, agreed(change, words))).toEqual([])
  })
})
