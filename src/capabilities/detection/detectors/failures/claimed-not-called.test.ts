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
      severity: 'medium',
      start_step: 1,
      evidence: { tool: 'cancel_membership', calls: 0 },
    },
  ])
  const passive = asked('passive').assistant('The letter has been sent to you.')
  expect(findingsOf(claimedNotCalled, passive)).toMatchObject([
    { evidence: { tool: 'send_letter' } },
  ])
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
  expect(findingsOf(claimedNotCalled, run)).toMatchObject([{ severity: 'low', recovered: true }])
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

  test('the request declares no such tool', () => {
    const run = agentRun('undeclared', { tools: ['get_member'] })
      .user('Cancel my membership.')
      .tool(member, '{"no":"5120"}')
      .assistant("I've cancelled your membership.")
    expect(findingsOf(claimedNotCalled, run)).toEqual([])
  })
})
