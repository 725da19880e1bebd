import { failure, ill, type LabelledRun } from './labelled-run.ts'

const booking = {
  name: 'book_table',
  parameters: {
    type: 'object',
    properties: {
      restaurant: { type: 'string' },
      guests: { type: 'integer', minimum: 1 },
      time: { type: 'string' },
      area: { type: 'string', enum: ['inside', 'terrace'] },
    },
    required: ['restaurant', 'guests', 'time'],
    additionalProperties: false,
  },
}
const may = ['tool_failure']

/** Calls that no tool can execute. */
export const callRuns: readonly LabelledRun[] = [
  ill(
    'a tool that was never offered',
    [failure('unknown_tool')],
    (run) =>
      run
        .system('You help with calendars.')
        .user('Cancel my Friday.')
        .mark()
        .tool(
          { name: 'delete_all_events', args: { day: 'Friday' } },
          "Error: unknown tool 'delete_all_events'",
        )
        .assistant('I can not cancel events.'),
    { tools: ['list_events', 'delete_event'], may },
  ),
  ill(
    'a tool of another framework',
    [failure('unknown_tool')],
    (run) =>
      run
        .user('Plot y = x².')
        .mark()
        .tool(
          { name: 'multi_tool_use.parallel', args: { tool_uses: [] } },
          'Tool multi_tool_use.parallel not found',
        )
        .assistant('I could not plot it.'),
    { tools: ['python'], may },
  ),
  ill(
    'a name in another spelling',
    [failure('unknown_tool')],
    (run) =>
      run
        .user('Liste meine Aufgaben auf.')
        .mark()
        .tool({ name: 'ListTasksNow' }, '{"error":"no such tool: ListTasksNow"}')
        .assistant('Ich kann die Aufgaben nicht abrufen.'),
    { source: 'otlp', tools: ['list_tasks', 'add_task'], may },
  ),
  ill(
    'arguments that stop in the middle',
    [failure('arguments_not_json')],
    (run) =>
      run
        .user('Write the file.')
        .mark()
        .tool(
          { name: 'write_file', args: '{"path":"a.txt","content":"once upon a' },
          'Error: could not parse arguments: Unterminated string',
        )
        .assistant('The file was not written.'),
    { tools: ['write_file'], may },
  ),
  ill(
    'a Python dictionary',
    [failure('arguments_not_json')],
    (run) =>
      run
        .system('You look up trains.')
        .user('Next train to Graz?')
        .mark()
        .tool(
          { name: 'trains', args: "{'to': 'Graz', 'when': None}" },
          'JSONDecodeError: Expecting property name enclosed in double quotes',
        )
        .assistant('I could not look it up.'),
    { streamed: true, tools: ['trains'], may },
  ),
  ill(
    'words around the object',
    [failure('arguments_not_json')],
    (run) =>
      run
        .user('Busca restaurantes en Lima.')
        .mark()
        .tool({ name: 'buscar', args: 'Sure! {"ciudad": "Lima"}' }, 'Error: invalid JSON')
        .assistant('No he podido buscar.'),
    { source: 'otlp_openinference', tools: ['buscar'], may },
  ),
  ill(
    'a required field is left out',
    [failure('arguments_invalid')],
    (run) =>
      run
        .user('A table for tonight at Nino’s, please.')
        .mark()
        .tool(
          { name: 'book_table', args: { restaurant: 'Nino’s', time: '20:00' } },
          'Error: guests is required',
        )
        .assistant('I could not book: the number of guests is missing.'),
    { tools: [booking], may },
  ),
  ill(
    'a word for a number',
    [failure('arguments_invalid')],
    (run) =>
      run
        .system('You book tables.')
        .user('Four of us at Chez Léa at eight.')
        .mark()
        .tool(
          { name: 'book_table', args: { restaurant: 'Chez Léa', guests: 'four', time: '20:00' } },
          'validation error: guests must be an integer',
        )
        .assistant('The booking did not go through.'),
    { streamed: true, tools: [booking], may },
  ),
  ill(
    'a value that the list does not have',
    [failure('arguments_invalid')],
    (run) =>
      run
        .user('Tisch für zwei auf dem Balkon, 19 Uhr, Adler.')
        .mark()
        .tool(
          {
            name: 'book_table',
            args: { restaurant: 'Adler', guests: 2, time: '19:00', area: 'balcony' },
          },
          '{"error":"area must be one of inside, terrace"}',
        )
        .assistant('Einen Balkon gibt es dort nicht; gebucht habe ich nicht.'),
    { source: 'otlp', tools: [booking], may },
  ),
  ill(
    'a field that nobody declared',
    [failure('arguments_invalid')],
    (run) =>
      run
        .user('Book Sol for three at 21:00, it is a birthday.')
        .mark()
        .tool(
          {
            name: 'book_table',
            args: { restaurant: 'Sol', guests: 3, time: '21:00', occasion: 'birthday' },
          },
          'Error: unexpected property occasion',
        )
        .assistant('The booking was refused.'),
    { tools: [booking], may },
  ),
  ill(
    'a call that nobody answered',
    [failure('orphan_call')],
    (run) =>
      run
        .user('Is the shop open?')
        .mark()
        .assistant({ calls: [{ name: 'opening_hours', args: { shop: 7 } }] })
        .user('Hello? Is it open?')
        .assistant('It is open until eight, I think.'),
    { tools: ['opening_hours'] },
  ),
  ill(
    'one of three results never came',
    [failure('orphan_call')],
    (run) =>
      run
        .system('You compare prices.')
        .user('Where is milk cheapest?')
        .mark()
        .assistant({
          calls: [
            { name: 'price', args: { shop: 'a' } },
            { name: 'price', args: { shop: 'b' } },
            { name: 'price', args: { shop: 'c' } },
          ],
        })
        .results(['0.99', '1.09'])
        .assistant('Shop a has it for 0.99.'),
    { tools: ['price'] },
  ),
  ill(
    'a result lost on the way',
    [failure('orphan_call')],
    (run) =>
      run
        .user('Combien de tickets sont ouverts ?')
        .mark()
        .assistant({ calls: [{ name: 'count_tickets', args: { state: 'open' } }] })
        .assistant('Il y a probablement quelques tickets ouverts.')
        .user('Combien exactement ?')
        .assistant('Je ne sais pas.'),
    { source: 'otlp', tools: ['count_tickets'] },
  ),
  ill(
    'a result that nobody asked for',
    [failure('orphan_result')],
    (run) =>
      run
        .user('What is on the list?')
        .results([{ text: '["milk","eggs"]', id: 'call_from_elsewhere' }])
        .mark()
        .assistant('Milk and eggs.'),
    { tools: ['read_list'] },
  ),
  ill(
    'a result under a wrong name',
    [failure('orphan_result')],
    (run) =>
      run
        .user('Turn on the light.')
        .assistant({ calls: [{ name: 'switch', args: { on: true }, id: 'call_1' }] })
        .results([{ text: 'on', id: 'call_2' }])
        .assistant('The light is on.'),
    { tools: ['switch'], may: ['orphan_call'] },
  ),
  ill(
    'two results for one call',
    [failure('orphan_result')],
    (run) =>
      run
        .system('You watch servers.')
        .user('Check db-1.')
        .assistant({ calls: [{ name: 'ping', args: { host: 'db-1' }, id: 'call_a' }] })
        .results(['alive', { text: 'dead', id: 'call_b' }])
        .assistant('db-1 is alive.'),
    { source: 'otlp', tools: ['ping'] },
  ),
]
