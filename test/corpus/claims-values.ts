import { claim, healthy, ill, type LabelledRun } from './labelled-run.ts'

const order =
  '{"order":"PB-7731","status":"shipped","total_cents":4250,"items":3,"eta":"2026-03-12","carrier":"Postal"}'

/** Answers with values that the agent did not see, and their healthy twins. */
export const valueRuns: readonly LabelledRun[] = [
  ill(
    'an amount that no tool returned',
    [claim()],
    (run) =>
      run
        .system('You are the support agent of a shop.')
        .user('What did order PB-7731 cost?')
        .tool({ name: 'get_order', args: { id: 'PB-7731' } }, order)
        .mark()
        .assistant('Order PB-7731 cost €42.50, and you get a discount of €7.90 next time.'),
    { tools: ['get_order'] },
  ),
  healthy(
    'an amount that a tool returned in cents',
    (run) =>
      run
        .system('You are the support agent of a shop.')
        .user('What did order PB-7731 cost?')
        .tool({ name: 'get_order', args: { id: 'PB-7731' } }, order)
        .assistant('Order PB-7731 with 3 items cost €42.50. It arrives on Thursday, 12 March.'),
    { tools: ['get_order'] },
  ),
  ill(
    'an id with two digits exchanged',
    [claim()],
    (run) =>
      run
        .user('Book the first free room for tomorrow.')
        .tool({ name: 'list_rooms' }, '[{"room":"R-4180","free":true},{"room":"R-4210"}]')
        .tool({ name: 'book_room', args: { room: 'R-4180' } }, '{"booking":"BK-20931"}')
        .mark()
        .assistant('Room R-4180 is booked, your booking number is BK-20391.'),
    { source: 'otlp_openinference', tools: ['list_rooms', 'book_room'] },
  ),
  healthy(
    'what the agent chose itself and a tool carried out',
    (run) =>
      run
        .user('Remind me in the afternoon.')
        .tool({ name: 'create_reminder', args: { at: '15:40', minutes_before: 25 } }, '{"ok":true}')
        .assistant('I set a reminder at 15:40, 25 minutes before.'),
    { tools: ['create_reminder'] },
  ),
  ill(
    'a sum that does not add up',
    [claim()],
    (run) =>
      run
        .system('You keep the books of a club.')
        .user('What did we spend on the summer party?')
        .tool(
          { name: 'list_expenses', args: { tag: 'party' } },
          '[{"what":"tent","eur":310},{"what":"band","eur":480},{"what":"drinks","eur":265}]',
        )
        .mark()
        .assistant(
          'The party cost 1,085 euros: 310 for the tent, 480 for the band, 265 for drinks.',
        ),
    { tools: ['list_expenses'], streamed: true },
  ),
  healthy(
    'a sum that adds up',
    (run) =>
      run
        .system('You keep the books of a club.')
        .user('What did we spend on the summer party?')
        .tool(
          { name: 'list_expenses', args: { tag: 'party' } },
          '[{"what":"tent","eur":310},{"what":"band","eur":480},{"what":"drinks","eur":265}]',
        )
        .assistant(
          'The party cost 1,055 euros: 310 for the tent, 480 for the band, 265 for drinks.',
        ),
    { tools: ['list_expenses'], streamed: true },
  ),
  // A day beside a free one, and a time between others, may be worked out: they are not checked.
  ill('ein Termin, den es nicht gibt', [claim()], (run) =>
    run
      .system('Du hilfst einer Praxis bei der Vergabe von Terminen.')
      .user('Wann ist der nächste freie Termin?')
      .tool({ name: 'termine' }, '{"frei":["2026-04-14T09:20","2026-04-16T11:00"]}')
      .mark()
      .assistant('Der nächste freie Termin ist am 15. April um 10:45 Uhr, Nummer T-48213.'),
  ),
  healthy('a sub-agent reports what it found', (run) =>
    run
      .system('You lead a researcher.')
      .user('How long is the tunnel?')
      .assistant({ calls: [{ name: 'researcher', args: { task: 'length of the tunnel' } }] })
      .parallel((one) =>
        one
          .system('You are a researcher.')
          .user('length of the tunnel')
          .tool({ name: 'lookup', args: { q: 'tunnel' } }, 'The tunnel is 8,743 m long.')
          .assistant('The tunnel is 8,743 m long.'),
      )
      .results(['The tunnel is 8,743 m long.'])
      .assistant('The tunnel is about 8.7 km long.'),
  ),
  healthy('an answer from general knowledge', (run) =>
    run
      .system('You are a friendly guide.')
      .user('Tell me about the Matterhorn.')
      .assistant('The Matterhorn is 4,478 m high and was first climbed on 14 July 1865.'),
  ),
  healthy(
    'an answer that goes beyond pages of which only the start is known',
    (run) =>
      run
        .user('Which clause limits the liability?')
        .tool(
          { name: 'read_contract' },
          `${'The parties agree to nothing here. '.repeat(600)}Clause 4711.`,
        )
        .assistant('Clause 4711 limits it.'),
    { tools: ['read_contract'] },
  ),
]
