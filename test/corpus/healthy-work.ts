import { healthy, type LabelledRun } from './labelled-run.ts'

/** Errands, data and operations with many similar steps and no trouble. */
export const workRuns: readonly LabelledRun[] = [
  healthy(
    'mails with one text to many people',
    (run) => {
      const names = ['ann', 'ben', 'cem', 'dora', 'emil']
      run.user('Invite the five of them to the party on Friday.')
      for (const name of names) {
        run.tool(
          {
            name: 'send_email',
            args: { to: `${name}@example.org`, subject: 'Party', body: 'Friday at eight!' },
          },
          'sent',
        )
      }
      return run.assistant('All five are invited.')
    },
    { tools: ['send_email'] },
  ),
  healthy(
    'the user orders the same thing again',
    (run) =>
      run
        .user('Order a crate of water.')
        .tool({ name: 'place_order', args: { item: 'water', crates: 1 } }, '{"order":"o-1"}')
        .assistant('Ordered.')
        .user('Order the same again, please.')
        .tool({ name: 'place_order', args: { item: 'water', crates: 1 } }, '{"order":"o-2"}')
        .assistant('A second crate is ordered.'),
    { tools: ['place_order'] },
  ),
  healthy(
    'a payment fails and is made once',
    (run) =>
      run
        .user('Pay invoice 9.')
        .tool({ name: 'create_payment', args: { invoice: 9 } }, 'HTTP 503 Service Unavailable')
        .wait(3_000)
        .tool({ name: 'create_payment', args: { invoice: 9 } }, '{"id":"p-9","state":"done"}')
        .assistant('Invoice 9 is paid.'),
    { tools: ['create_payment'] },
  ),
  healthy(
    'two transfers of the same amount to two people',
    (run) =>
      run
        .user('Send 50 euros each to Lea and Tom.')
        .assistant({
          calls: [
            { name: 'transfer', args: { to: 'Lea', eur: 50 } },
            { name: 'transfer', args: { to: 'Tom', eur: 50 } },
          ],
        })
        .results(['done', 'done'])
        .assistant('Both have their 50 euros.'),
    { tools: ['transfer'], streamed: true },
  ),
  healthy(
    'a dashboard is looked at in turn, and numbers move',
    (run) => {
      run.system('You are the on-call agent.').user('Watch the recovery.')
      for (const at of [0, 1, 2, 3]) {
        run.tool({ name: 'cpu', args: { host: 'a' } }, `${90 - at * 15} %`)
        run.tool({ name: 'errors', args: { svc: 'shop' } }, `${40 - at * 13} per minute`)
        run.tool({ name: 'queue_depth' }, `${1_000 - at * 310}`)
      }
      return run.assistant('The shop has recovered.')
    },
    { tools: ['cpu', 'errors', 'queue_depth'] },
  ),
  healthy(
    'every host answers alike',
    (run) => {
      run.user('Is the agent installed on all hosts?')
      for (const host of ['web-1', 'web-2', 'web-3', 'db-1', 'db-2']) {
        run.tool({ name: 'ssh', args: { host, cmd: 'systemctl is-active agent' } }, 'active')
      }
      return run.assistant('Yes, on all five hosts.')
    },
    { tools: ['ssh'] },
  ),
  healthy(
    'a counter is raised by equal calls',
    (run) =>
      run
        .user('Turn the volume up by five.')
        .times(5, (agent, at) => agent.tool({ name: 'volume_up' }, `volume ${at + 11}`))
        .assistant('The volume is 15.'),
    { tools: ['volume_up'] },
  ),
  healthy(
    'keys are pressed in a game',
    (run) =>
      run
        .system('You play a game with keys.')
        .user('Walk to the door.')
        .times(5, (agent, at) =>
          agent.tool({ name: 'press', args: { key: 'right' } }, `x=${at + 1}, door at x=5`),
        )
        .tool({ name: 'press', args: { key: 'enter' } }, 'The door opens.')
        .assistant('The door is open.'),
    { tools: ['press'], source: 'otlp' },
  ),
  healthy(
    'a column is looked at in each of six tables',
    (run) =>
      run
        .user('In which tables is there a column email?')
        .times(6, (agent, at) =>
          agent.tool(
            { name: 'columns', args: { table: `t${at}` } },
            at === 4 ? 'id, email' : 'id, name',
          ),
        )
        .assistant('Only in t4.'),
    { tools: ['columns'] },
  ),
  healthy(
    'a query is refined until it fits',
    (run) =>
      run
        .system('You answer with SQL.')
        .user('Top customer of last year?')
        .tool(
          { name: 'sql', args: { q: 'SELECT customer, SUM(x) FROM o GROUP BY 1' } },
          'ERROR: column "x" does not exist',
        )
        .tool(
          {
            name: 'sql',
            args: { q: 'SELECT customer, SUM(total) FROM o GROUP BY 1 ORDER BY 2 DESC LIMIT 1' },
          },
          'Kim,9000',
        )
        .tool(
          {
            name: 'sql',
            args: {
              q: 'SELECT customer, SUM(total) FROM o WHERE y=2025 GROUP BY 1 ORDER BY 2 DESC LIMIT 1',
            },
          },
          'Lee,7000',
        )
        .assistant('Lee, with 7,000.'),
    { tools: ['sql'] },
  ),
  healthy(
    'an empty result is an answer',
    (run) =>
      run
        .user('Are there open tickets of mine?')
        .tool({ name: 'search_tickets', args: { owner: 'me', state: 'open' } }, '[]')
        .tool({ name: 'search_tickets', args: { owner: 'me', state: 'new' } }, '[]')
        .assistant('No, you have none.'),
    { tools: ['search_tickets'] },
  ),
  healthy(
    'texts that speak of errors are no errors',
    (run) =>
      run
        .user('What do users complain about?')
        .tool(
          { name: 'get_reviews', args: { page: 1 } },
          'The error message was clear. I failed to find the exit. Exception: the shoes are great.',
        )
        .tool(
          { name: 'get_reviews', args: { page: 2 } },
          'Error prone, timeouts, 500 crashes. Still love it.',
        )
        .tool({ name: 'get_reviews', args: { page: 3 } }, '404 stars! No failure so far.')
        .assistant('Some speak of crashes and time-outs, most are happy.'),
    { tools: ['get_reviews'], streamed: true },
  ),
  healthy(
    'logs full of errors are read by an agent that is asked to',
    (run) =>
      run
        .system('You analyse logs.')
        .user('What broke last night?')
        .times(5, (agent, at) =>
          agent.tool(
            { name: 'read_log', args: { hour: at } },
            `0${at}:13 ERROR db timeout after 30s\n0${at}:14 ERROR retry failed\n0${at}:15 INFO ok`,
          ),
        )
        .assistant('The database ran into time-outs each hour at a quarter past.'),
    { tools: ['read_log'], may: ['tool_outage', 'tool_failure'] },
  ),
  healthy(
    'zero errors and no failures are reported',
    (run) =>
      run
        .user('Did the check pass?')
        .tool({ name: 'run_check' }, '{"errors":[],"failed":0,"error":null,"status":"ok"}')
        .assistant('Yes, the check passed without errors.'),
    { tools: ['run_check'] },
  ),
  healthy(
    'a fallback takes over when a tool fails',
    (run) =>
      run
        .user('Translate "Guten Tag".')
        .tool({ name: 'deepl', args: { text: 'Guten Tag' } }, 'Error: quota exceeded')
        .tool({ name: 'google_translate', args: { text: 'Guten Tag' } }, 'Good day')
        .assistant('"Good day".'),
    { tools: ['deepl', 'google_translate'] },
  ),
  healthy(
    'an agent says honestly that a part did not work',
    (run) =>
      run
        .user('Get the weather of Ulm and Xyzzy.')
        .assistant({
          calls: [
            { name: 'weather', args: { city: 'Ulm' } },
            { name: 'weather', args: { city: 'Xyzzy' } },
          ],
        })
        .results(['{"c":9}', 'Error: unknown city'])
        .assistant('Ulm has 9 degrees. A city called Xyzzy is not known.'),
    { tools: ['weather'], may: ['tool_failure'] },
  ),
  healthy(
    'arguments fit their schema in all fields',
    (run) =>
      run
        .user('Book Sol for three at nine, on the terrace.')
        .tool(
          { name: 'book', args: { place: 'Sol', guests: 3, area: 'terrace', note: null } },
          'booked',
        )
        .assistant('Booked.'),
    {
      tools: [
        {
          name: 'book',
          parameters: {
            type: 'object',
            properties: {
              place: { type: 'string' },
              guests: { type: 'integer', minimum: 1 },
              area: { enum: ['inside', 'terrace'] },
              note: { type: ['string', 'null'] },
            },
            required: ['place', 'guests'],
          },
        },
      ],
    },
  ),
  healthy(
    'a tool without arguments gets an empty text',
    (run) =>
      run
        .user('What time is it?')
        .tool({ name: 'now', args: '' }, '10:14')
        .assistant('It is 10:14.'),
    { tools: ['now'] },
  ),
  healthy(
    'an answer offers to go on',
    (run) =>
      run
        .user('Which hotels are there in Bern?')
        .tool({ name: 'hotels', args: { city: 'Bern' } }, 'Adler, Bären')
        .assistant(
          'There are Adler and Bären. Let me know if I should book one of them, and I will do it right away.',
        ),
    { tools: ['hotels', 'book'] },
  ),
  healthy(
    'an agent asks before it acts',
    (run) =>
      run
        .user('Delete the old branches.')
        .tool({ name: 'list_branches' }, 'main, old-1, old-2')
        .assistant('I will delete old-1 and old-2. Shall I go ahead?'),
    { tools: ['list_branches', 'delete_branch'] },
  ),
  healthy(
    'the last call is still waiting for its result',
    (run) =>
      run
        .user('Render the film.')
        .tool({ name: 'check_disk' }, '40 GB free')
        .assistant({ calls: [{ name: 'render', args: { quality: 'high' } }] }),
    { tools: ['check_disk', 'render'] },
  ),
  healthy(
    'a dozen rows are added one by one, told without content',
    (run) =>
      run
        .user('Add the rows.')
        .times(12, (agent, at) => agent.tool({ name: 'add_row', args: { n: at } }, `row ${at}`))
        .assistant('Done.'),
    { source: 'otlp_no_content' },
  ),
  healthy(
    'one of many tools fails, told without content',
    (run) =>
      run
        .user('Copy the files.')
        .tool({ name: 'copy', args: { f: 1 } }, 'ok')
        .tool({ name: 'copy', args: { f: 2 } }, { text: 'locked', failed: true })
        .tool({ name: 'copy', args: { f: 2 } }, 'ok')
        .tool({ name: 'copy', args: { f: 3 } }, 'ok')
        .assistant('All copied.'),
    { source: 'otlp_no_content' },
  ),
  healthy(
    'ten researchers work side by side on ten questions',
    (run) => {
      const topics = Array.from({ length: 10 }, (_, at) => `topic ${at + 1}`)
      return run
        .system('You lead researchers.')
        .user('Research ten topics.')
        .assistant({ calls: topics.map((topic) => ({ name: 'research', args: { topic } })) })
        .parallel(
          ...topics.map(
            (topic) => (one: typeof run) =>
              one
                .system('You are a researcher.')
                .user(topic)
                .tool({ name: 'web_search', args: { q: topic } }, `1. ${topic} explained`)
                .assistant(`Of ${topic} much is known.`),
          ),
        )
        .results(topics.map((topic) => `Of ${topic} much is known.`))
        .assistant('Much is known of all ten topics.')
    },
    { tools: ['research', 'web_search'] },
  ),
  healthy(
    'a search is refined, with other hits each time',
    (run) => {
      const asked = [
        'flights Rome',
        'flights Rome May',
        'cheap flights Rome May',
        'direct cheap flights Rome May',
        'direct cheap flights to Rome in May',
      ]
      run.user('Find me a good flight to Rome.')
      for (const [at, q] of asked.entries())
        run.tool({ name: 'search', args: { q } }, `${at + 2} flights from ${180 - at * 20} euros`)
      return run.assistant('The cheapest direct flight in May costs 100 euros.')
    },
    { tools: ['search'] },
  ),
  healthy(
    'eighty records are read, one after the other',
    (run) =>
      run
        .system('You read registers.')
        .user('Which entry has no date?')
        .times(80, (agent, at) =>
          agent.tool({ name: 'record', args: { n: at } }, `entry ${at}, dated 19${(at % 90) + 10}`),
        )
        .assistant('All of them have a date.'),
    { tools: ['record'], call_ms: 300, tool_ms: 50 },
  ),
]
