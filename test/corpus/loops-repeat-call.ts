import { ill, type LabelledRun, loop } from './labelled-run.ts'

const config = '{\n  "retries": 3,\n  "region": "eu-central-1",\n  "features": ["a", "b"]\n}'
const emptyPage = '<main><h1>Results</h1><p>Page 1 of 7</p><button id="next">Next</button></main>'

/** The same call with the same result, repeatedly. */
export const repeatCallRuns: readonly LabelledRun[] = [
  ill(
    'a coding agent reads one file four times',
    [loop('repeat_call')],
    (run) =>
      run
        .system('You are a coding agent. Use the tools to change the repository.')
        .user('Raise the number of retries in config.json to 5.')
        .tool({ name: 'list_dir', args: { path: '.' } }, 'config.json\nsrc/\npackage.json')
        .mark()
        .times(4, (agent) =>
          agent.tool({ name: 'read_file', args: { path: 'config.json' } }, config),
        )
        .tool(
          { name: 'write_file', args: { path: 'config.json', content: config.replace('3', '5') } },
          'Wrote 74 bytes to config.json',
        )
        .assistant('The number of retries is 5 now.'),
    { tools: ['list_dir', 'read_file', 'write_file'] },
  ),
  ill(
    'a browser clicks next and stays on the page',
    [loop('repeat_call')],
    (run) =>
      run
        .system('You browse the web for the user. Act with one action at a time.')
        .user('Find the cheapest used road bike on page 3 of the listing.')
        .tool({ name: 'browser_navigate', args: { url: 'https://bikes.example/used' } }, emptyPage)
        .mark()
        .times(6, (agent, at) =>
          agent.tool(
            { name: 'browser_click', args: { selector: '#next' }, text: `Next page (${at + 2}).` },
            emptyPage,
          ),
        )
        .assistant('I could not get past the first page of the listing.'),
    { model: 'gpt-4o', tools: ['browser_navigate', 'browser_click'] },
  ),
  ill(
    'a retrieval agent asks the index three times alike',
    [loop('repeat_call')],
    (run) =>
      run
        .system('Answer from the handbook only. Cite the page.')
        .user('How many days of parental leave do we get?')
        .mark()
        .times(3, (agent) =>
          agent.tool(
            { name: 'search_handbook', args: { query: 'parental leave days', top_k: 4 } },
            '[{"page":12,"text":"Leave of absence is agreed on with the manager."}]',
          ),
        )
        .assistant('The handbook does not give the number of days (page 12).'),
    { source: 'otlp', tools: ['search_handbook'] },
  ),
  ill(
    'two calls side by side, the same two each time',
    [loop('repeat_call')],
    (run) =>
      run
        .user('Which of our two warehouses has more of item A-17?')
        .mark()
        .times(4, (agent, at) => {
          const berlin = { name: 'stock', args: { site: 'berlin', item: 'A-17' } }
          const lyon = { name: 'stock', args: { item: 'A-17', site: 'lyon' } }
          const isEven = at % 2 === 0
          return agent
            .assistant({ calls: isEven ? [berlin, lyon] : [lyon, berlin] })
            .results(isEven ? ['{"n":40}', '{"n":12}'] : ['{"n":12}', '{"n":40}'])
        })
        .assistant('Berlin has 40 of them, Lyon 12.'),
    { tools: ['stock'] },
  ),
  ill(
    'an analyst runs one query five times',
    [loop('repeat_call')],
    (run) =>
      run
        .system('You answer questions about the shop with SQL (read only).')
        .user('Revenue by month for 2025, please.')
        .tool({ name: 'sql_schema' }, 'orders(id, placed_at, total_cents)')
        .mark()
        .times(5, (agent) =>
          agent.tool(
            {
              name: 'sql_query',
              args: {
                sql: "SELECT strftime('%m', placed_at) m, SUM(total_cents) FROM orders GROUP BY m",
              },
            },
            'm,sum\n01,120000\n02,98000\n03,143000',
          ),
        )
        .assistant('January 1,200, February 980, March 1,430.'),
    {
      source: 'otlp_openinference',
      model: 'claude-3-5-sonnet-20241022',
      provider: 'anthropic',
      // Cents become euros, and nothing says so.
      may: ['unsupported_value'],
    },
  ),
  ill('one of two sub-agents goes round while the other works', [loop('repeat_call')], (run) =>
    run
      .system('You lead two researchers.')
      .user('Compare the rail fares of Spain and Italy.')
      .assistant({
        calls: [
          { name: 'research', args: { topic: 'fares in Spain' } },
          { name: 'research', args: { topic: 'fares in Italy' } },
        ],
      })
      .parallel(
        (spain) =>
          spain
            .system('You are a researcher. Topic: fares in Spain')
            .user('fares in Spain')
            .tool({ name: 'web_search', args: { q: 'renfe fares 2026' } }, 'renfe.example/fares')
            .tool({ name: 'fetch', args: { url: 'renfe.example/fares' } }, 'Madrid–Seville €38')
            .assistant('Madrid–Seville costs €38.'),
        (italy) =>
          italy
            .system('You are a researcher. Topic: fares in Italy')
            .user('fares in Italy')
            .mark()
            .times(4, (agent) =>
              agent.tool(
                { name: 'web_search', args: { q: 'trenitalia fares' } },
                'trenitalia.example/offers',
              ),
            )
            .assistant('I found only a page of offers.'),
      )
      .results(['Madrid–Seville costs €38.', 'I found only a page of offers.'])
      .assistant('Spain: €38 from Madrid to Seville. For Italy I have no fare.'),
  ),
  ill(
    'arguments are spelled in other ways and times differ in results',
    [loop('repeat_call')],
    (run) =>
      run
        .user('Was kostet die Aktie der Nordwind AG gerade? Kauf bei unter 12 Euro.')
        .mark()
        .tool(
          { name: 'getQuote', args: '{"symbol":"NWD","depth":1}' },
          '{"price":12.4,"request_id":"7f3a9c10bd42","at":"2026-09-21T10:00:01.120Z"}',
        )
        .tool(
          { name: 'getQuote', args: '{ "depth": 1.0, "symbol": "NWD" }' },
          '{"price":12.4,"request_id":"11d0aa77ce03","at":"2026-09-21T10:00:03.480Z"}',
        )
        .tool(
          { name: 'getQuote', args: '{"depth":1,"symbol":"NWD"}' },
          '{"price":12.4,"request_id":"98ffe0127cab","at":"2026-09-21T10:00:05.003Z"}',
        )
        .assistant('Die Aktie steht bei 12,40 Euro, ich habe nicht gekauft.'),
    { tools: ['getQuote', 'placeOrder'], streamed: true },
  ),
  ill(
    'a support agent looks one order up again with new words each time',
    [loop('repeat_call')],
    (run) =>
      run
        .system('You are the support agent of a shoe shop.')
        .user('Where is my order 88120?')
        .assistant('Let me have a look. Which e-mail address did you order with?')
        .user('ana@example.org')
        .mark()
        .tool(
          { name: 'lookup_order', args: { id: '88120' }, text: 'I look your order up.' },
          '{"state":"packed","carrier":null}',
        )
        .tool(
          { name: 'lookup_order', args: { id: '88120' }, text: 'One moment, I get the details.' },
          '{"state":"packed","carrier":null}',
        )
        .tool(
          { name: 'lookup_order', args: { id: '88120' }, text: 'I check with the warehouse.' },
          '{"state":"packed","carrier":null}',
        )
        .assistant('Your order is packed and waits for the carrier.'),
    { streamed: true, tools: ['lookup_order', 'refund'] },
  ),
  ill(
    'a job is polled a dozen times and never moves',
    [loop('repeat_call')],
    (run) =>
      run
        .system('You run exports.')
        .user('Export the customers and send me the link.')
        .tool({ name: 'start_export', args: { table: 'customers' } }, '{"job":"j-7"}')
        .mark()
        .times(12, (agent) =>
          agent.tool({ name: 'get_job_status', args: { job: 'j-7' } }, '{"state":"queued"}'),
        )
        .assistant('The export has not begun yet. Please ask again later.'),
    { tools: ['start_export', 'get_job_status'] },
  ),
  ill(
    'a thinking tool writes down the same thought',
    [loop('repeat_call')],
    (run) =>
      run
        .user('Plan the migration of our mail server in five steps.')
        .mark()
        .times(3, (agent) =>
          agent.tool(
            { name: 'mcp__notes__append', args: { text: 'Step 1: inventory of mailboxes' } },
            'ok',
          ),
        )
        .assistant('1. Inventory 2. New server 3. Copy 4. Switch MX 5. Retire the old one.'),
    { source: 'otlp', may: ['duplicate_side_effect'] },
  ),
]
