import { ill, type LabelledRun, loop } from './labelled-run.ts'

const filters = {
  country: 'Portugal',
  city: 'Lisbon',
  from: '2027-06-01',
  until: '2027-06-08',
  guests: 'two adults',
  room: 'double with balcony facing the river',
  board: 'breakfast included',
  amenities: 'pool sauna gym parking lift garden terrace bicycle rental airport shuttle laundry',
  payment: 'card voucher invoice',
  language: 'portuguese english spanish',
}

/** Calls with the same meaning in other words, with the same result. */
export const similarRuns: readonly LabelledRun[] = [
  ill(
    'five orders of the same words',
    [loop('similar_call')],
    (run) =>
      run
        .system('You search the knowledge base.')
        .user('How do I reset the pump of the DX4?')
        .mark()
        .tool({ name: 'kb_search', args: { query: 'reset pump DX4' } }, 'No results.')
        .tool({ name: 'kb_search', args: { query: 'DX4 pump reset' } }, 'No results.')
        .tool({ name: 'kb_search', args: { query: 'pump reset DX4' } }, 'No results.')
        .tool({ name: 'kb_search', args: { query: 'DX4 reset pump' } }, 'No results.')
        .tool({ name: 'kb_search', args: { query: 'reset DX4 pump' } }, 'No results.')
        .assistant('The knowledge base has nothing on it.'),
    { tools: ['kb_search'] },
  ),
  ill(
    'the same words with other signs around them',
    [loop('similar_call')],
    (run) =>
      run
        .user('Find the lyrics that go "silver moon over water".')
        .mark()
        .tool({ name: 'web_search', args: { q: 'silver moon over water' } }, '{"hits":[]}')
        .tool({ name: 'web_search', args: { q: '"silver moon over water"' } }, '{"hits":[]}')
        .tool({ name: 'web_search', args: { q: 'silver moon, over water' } }, '{"hits":[]}')
        .tool({ name: 'web_search', args: { q: 'Silver Moon Over Water?' } }, '{"hits":[]}')
        .tool({ name: 'web_search', args: { q: '(silver moon) over water!' } }, '{"hits":[]}')
        .tool({ name: 'web_search', args: { q: 'over water: silver moon' } }, '{"hits":[]}')
        .assistant('I could not find these lyrics.'),
    { source: 'otlp' },
  ),
  ill(
    'long filters of which one word changes',
    [loop('similar_call')],
    (run) => {
      const words = ['cheap', 'affordable', 'budget', 'inexpensive', 'economy']
      run.system('You find hotels.').user('A week in Lisbon, please.').mark()
      return run
        .times(5, (agent, at) =>
          agent.tool(
            { name: 'hotel_search', args: { ...filters, price: words[at] } },
            '{"total":0,"hotels":[]}',
          ),
        )
        .assistant('There is no such hotel.')
    },
    { tools: ['hotel_search'], model: 'gpt-4o' },
  ),
  ill(
    'columns of a query in another order',
    [loop('similar_call')],
    (run) =>
      run
        .system('You answer with SQL.')
        .user('Which users have no plan?')
        .mark()
        .tool(
          { name: 'sql', args: { q: 'SELECT id, name FROM users WHERE plan IS NULL' } },
          '(0 rows)',
        )
        .tool(
          { name: 'sql', args: { q: 'SELECT name, id FROM users WHERE plan IS NULL' } },
          '(0 rows)',
        )
        .tool(
          { name: 'sql', args: { q: 'select id, name from users where plan is null;' } },
          '(0 rows)',
        )
        .tool(
          { name: 'sql', args: { q: 'select name, id from users where plan is null;' } },
          '(0 rows)',
        )
        .tool(
          { name: 'sql', args: { q: 'SELECT id, name FROM users WHERE (plan IS NULL)' } },
          '(0 rows)',
        )
        .assistant('All users have a plan.'),
    { streamed: true, tools: ['sql'] },
  ),
  ill(
    'a search that is asked with the same words and other looks between',
    [loop('similar_call')],
    (run) => {
      const asked = [
        'timeout retry client',
        'client retry timeout',
        'retry timeout client',
        'timeout client retry',
        'client timeout retry',
      ]
      run.system('You are a coding agent.').user('Where is the retry of the client?').mark()
      return run
        .times(5, (agent, at) =>
          agent
            .tool({ name: 'code_search', args: { text: asked[at] } }, 'no matches')
            .tool(
              { name: 'open', args: { path: `src/part-${at}.ts` } },
              `export const part${at} = ${at}`,
            ),
        )
        .assistant('There is no retry in the client.')
    },
    { tools: ['code_search', 'open'] },
  ),
  ill(
    'a librarian asks with and without articles of case',
    [loop('similar_call')],
    (run) =>
      run
        .user('¿Tenéis algún libro sobre la historia del café en Cádiz?')
        .mark()
        .tool({ name: 'catalogo.buscar', args: { texto: 'historia café Cádiz' } }, '0 resultados')
        .tool({ name: 'catalogo.buscar', args: { texto: 'Cádiz café historia' } }, '0 resultados')
        .tool({ name: 'catalogo.buscar', args: { texto: 'Historia Café Cádiz' } }, '0 resultados')
        .tool({ name: 'catalogo.buscar', args: { texto: 'café Cádiz historia' } }, '0 resultados')
        .tool({ name: 'catalogo.buscar', args: { texto: 'café, historia, Cádiz' } }, '0 resultados')
        .assistant('No tenemos ningún libro sobre ese tema.'),
    { source: 'otlp_openinference' },
  ),
]
