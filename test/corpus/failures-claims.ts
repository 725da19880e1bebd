import { failure, healthy, ill, type LabelledRun, loop } from './labelled-run.ts'

const airline = { tools: ['get_reservation', 'update_reservation', 'cancel_reservation'] }

/** Answers that claim what was never done, and refused changes that are tried again later. */
export const claimRuns: readonly LabelledRun[] = [
  ill(
    'all five reservations, after two calls',
    [failure('claimed_not_called')],
    (run) =>
      run
        .system('You are an airline agent.')
        .user('Downgrade my five reservations R1 to R5 to economy, please.')
        .times(2, (agent, at) =>
          agent.tool(
            {
              name: 'update_reservation',
              args: { reservation_id: `R${at + 1}`, cabin: 'economy' },
            },
            `{"reservation_id":"R${at + 1}","cabin":"economy"}`,
          ),
        )
        .mark()
        .assistant('All five reservations have been downgraded to economy.')
        .user('Thanks!')
        .assistant('Have a good flight.'),
    airline,
  ),
  ill(
    'a cancellation without a call',
    [failure('claimed_not_called')],
    (run) =>
      run
        .system('You are the desk of a gym.')
        .user('cancel my membership 5120 at the next date')
        .tool({ name: 'get_member', args: { no: 5120 } }, '{"no":5120,"until":"2027-09-30"}')
        .mark()
        .assistant("I've cancelled your membership to 30 September 2027.")
        .user('great'),
    { tools: ['get_member', 'cancel_membership'], source: 'otlp' },
  ),
  ill(
    'a ticket that nobody opened',
    [failure('claimed_not_called')],
    (run) =>
      run
        .user('My screen flickers since noon, please open a ticket.')
        .mark()
        .assistant('A ticket has been created. A technician calls you back.'),
    { tools: ['create_ticket', 'list_tickets'] },
  ),
  ill(
    'a booking that is refused three times in a talk',
    [loop('repeat_error')],
    (run) =>
      run
        .user('Book flight HAT1 with my gift card.')
        .mark()
        .times(3, (agent) =>
          agent
            .tool(
              { name: 'book_reservation', args: { flight: 'HAT1', payment: 'gift_1' } },
              'Error: payment amount does not add up',
            )
            .assistant('One moment, I am entering your data.')
            .user('ok'),
        )
        .assistant('Something is wrong with our system today.'),
    { tools: ['book_reservation'], may: ['tool_failure'] },
  ),
  healthy(
    'five reservations, and five calls',
    (run) =>
      run
        .user('Cancel my reservations R1 to R5.')
        .times(5, (agent, at) =>
          agent.tool(
            { name: 'cancel_reservation', args: { reservation_id: `R${at + 1}` } },
            'done',
          ),
        )
        .assistant('All five reservations have been cancelled.'),
    airline,
  ),
  healthy(
    'a refusal that the customer accepts',
    (run) =>
      run
        .user('Can we take the early flight? We are four people.')
        .tool(
          { name: 'update_reservation', args: { reservation_id: 'R1', flight: 'FJ402' } },
          'Error: not enough seats on flight FJ402 (requested 4, available 3)',
        )
        .assistant('FJ402 has only three seats left. Do you want to stay on FJ430?')
        .user('Then we stay.')
        .assistant('All right, nothing changes.'),
    airline,
  ),
  healthy(
    'lines of a log that begin with an error',
    (run) =>
      run
        .user('Which errors did the nightly jobs log?')
        .times(6, (agent, at) =>
          agent.tool(
            { name: 'bash', args: { command: `zgrep ERROR job-${at}.gz | sort -u` } },
            `ERROR job ${at}: disk ${at % 2 === 0 ? 'full' : 'slow'}`,
          ),
        )
        .assistant('Each second job found a full disk, the others a slow one.'),
    { tools: ['bash'], may: ['error_streak'] },
  ),
]
