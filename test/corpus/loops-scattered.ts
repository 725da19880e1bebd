import { ill, type LabelledRun, loop } from './labelled-run.ts'

const readme = '# Billing\n\nRun `make test` before each change.'
const account = '{"plan":"basic","since":"2021","balance":0}'

/** The same read of the same thing, with other reads between. */
export const scatteredRuns: readonly LabelledRun[] = [
  ill(
    'a README is read three times in a walk through the sources',
    [loop('scattered_repeat')],
    (run) =>
      run
        .system('You are a coding agent.')
        .user('Explain how billing works.')
        .mark()
        .tool({ name: 'read_file', args: { path: 'README.md' } }, readme)
        .tool({ name: 'read_file', args: { path: 'src/bill.ts' } }, 'export const bill = () => 1')
        .tool({ name: 'list_files', args: { path: 'src' } }, 'bill.ts tax.ts')
        .tool({ name: 'read_file', args: { path: 'README.md' } }, readme)
        .tool({ name: 'read_file', args: { path: 'src/tax.ts' } }, 'export const tax = 0.19')
        .tool({ name: 'grep', args: { pattern: 'tax' } }, 'src/tax.ts:1')
        .tool({ name: 'read_file', args: { path: 'README.md' } }, readme)
        .assistant('Billing adds tax of 19 % to each bill.'),
    { tools: ['read_file', 'list_files', 'grep'] },
  ),
  ill(
    'an account is fetched for each question of a customer',
    [loop('scattered_repeat')],
    (run) =>
      run
        .system('You help the customers of a phone company.')
        .user('What plan am I on?')
        .mark()
        .tool({ name: 'get_account', args: { id: 'c-9' } }, account)
        .assistant('You are on the basic plan.')
        .user('Since when?')
        .tool({ name: 'get_account', args: { id: 'c-9' } }, account)
        .assistant('Since 2021.')
        .user('And do I owe you anything?')
        .tool({ name: 'get_account', args: { id: 'c-9' } }, account)
        .assistant('No, your balance is zero.'),
    { streamed: true, tools: ['get_account'] },
  ),
  ill(
    'one listing in the shell five times',
    [loop('scattered_repeat')],
    (run) => {
      const looks = ['cat a.py', 'wc -l b.py', 'head c.py', 'cat d.py', 'tail e.py']
      run
        .system('You are a coding agent with a shell.')
        .user('Which file is the entry point?')
        .mark()
      return run
        .times(5, (agent, at) =>
          agent
            .tool({ name: 'bash', args: { command: 'ls -la' } }, 'a.py b.py c.py d.py e.py')
            .tool({ name: 'bash', args: { command: looks[at] } }, `# file ${'abcde'[at]}`),
        )
        .assistant('I think it is a.py.')
    },
    { tools: ['bash'] },
  ),
  ill(
    'the same search among others',
    [loop('scattered_repeat')],
    (run) =>
      run
        .system('You write briefings from the news index.')
        .user('What happened to the port strike?')
        .mark()
        .tool({ name: 'news_search', args: { q: 'port strike' } }, '1. Strike at port enters day 3')
        .tool({ name: 'news_search', args: { q: 'dock workers union' } }, '1. Union rejects offer')
        .tool({ name: 'news_search', args: { q: 'port strike' } }, '1. Strike at port enters day 3')
        .tool(
          { name: 'open_article', args: { n: 1 } },
          'The strike at the port entered its third day.',
        )
        .tool(
          { name: 'news_search', args: { q: 'shipping delays' } },
          '1. Ships wait off the coast',
        )
        .tool({ name: 'news_search', args: { q: 'port strike' } }, '1. Strike at port enters day 3')
        .assistant('The strike is in its third day; the union rejected an offer.'),
    { source: 'otlp' },
  ),
  ill(
    'a table is described again before every query',
    [loop('scattered_repeat')],
    (run) =>
      run
        .user('Compare the first three quarters.')
        .mark()
        .times(3, (agent, at) =>
          agent
            .tool({ name: 'describe_table', args: { name: 'sales' } }, 'day date, cents int')
            .tool(
              { name: 'select', args: { sql: `SELECT SUM(cents) FROM sales WHERE q = ${at + 1}` } },
              `${at + 1}40000`,
            ),
        )
        .assistant('1,400, 2,400 and 3,400.'),
    { source: 'otlp_openinference', may: ['unsupported_value'] },
  ),
  ill('a page is opened again between its neighbours', [loop('scattered_repeat')], (run) =>
    run
      .system('You compare hotels.')
      .user('Trouve-moi un hôtel calme à Nantes.')
      .tool({ name: 'search_hotels', args: { city: 'Nantes' } }, 'Hôtel A, Hôtel B, Hôtel C')
      .mark()
      .tool({ name: 'hotel_details', args: { id: 'A' } }, 'Hôtel A, rue calme, 90 €')
      .tool({ name: 'hotel_details', args: { id: 'B' } }, 'Hôtel B, place bruyante, 70 €')
      .tool({ name: 'hotel_details', args: { id: 'A' } }, 'Hôtel A, rue calme, 90 €')
      .tool({ name: 'hotel_reviews', args: { id: 'A' } }, 'Très calme.')
      .tool({ name: 'hotel_details', args: { id: 'C' } }, 'Hôtel C, gare, 60 €')
      .tool({ name: 'hotel_details', args: { id: 'A' } }, 'Hôtel A, rue calme, 90 €')
      .assistant('L’hôtel A est calme et coûte 90 €.'),
  ),
]
