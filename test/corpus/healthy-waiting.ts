import { healthy, type LabelledRun } from './labelled-run.ts'

const rateLimit = { status: 429, type: 'rate_limit_exceeded', message: 'Slow down.' }
const overloaded = { status: 529, type: 'overloaded_error', message: 'Overloaded' }

/** Runs that wait, poll, page and retry, and succeed. */
export const waitingRuns: readonly LabelledRun[] = [
  healthy(
    'a job is polled until it is done',
    (run) =>
      run
        .user('Export the orders.')
        .tool({ name: 'start_export' }, '{"job":"e1"}')
        .times(6, (agent, at) =>
          agent.tool(
            { name: 'get_job_status', args: { job: 'e1' } },
            `{"state":"running","percent":${at * 15}}`,
          ),
        )
        .tool({ name: 'get_job_status', args: { job: 'e1' } }, '{"state":"done","url":"/e1.csv"}')
        .assistant('The export is at /e1.csv.'),
    { tools: ['start_export', 'get_job_status'] },
  ),
  healthy(
    'a job is polled seven times with one word',
    (run) =>
      run
        .user('Start the backup and tell me when it is done.')
        .tool({ name: 'backup_start' }, 'started')
        .times(7, (agent) => agent.tool({ name: 'backup_status' }, 'running').wait(2_000))
        .tool({ name: 'backup_status' }, 'done')
        .assistant('The backup is done.'),
    { tools: ['backup_start', 'backup_status'], may: ['repeat_call'] },
  ),
  healthy(
    'an agent waits half a minute between equal looks',
    (run) =>
      run
        .system('You deploy.')
        .user('Deploy and make sure that it is up.')
        .tool({ name: 'deploy' }, 'rollout started')
        .times(5, (agent) =>
          agent.tool(
            { name: 'check_rollout' },
            { text: 'Waiting for 1 of 3 replicas', after_ms: 30_000 },
          ),
        )
        .tool({ name: 'check_rollout' }, 'successfully rolled out')
        .assistant('It is up.'),
    { tools: ['deploy', 'check_rollout'], may: ['repeat_call'] },
  ),
  healthy(
    'sleep and look, sleep and look',
    (run) =>
      run
        .user('Tell me when the build is through.')
        .times(4, (agent, at) =>
          agent
            .tool({ name: 'bash', args: { command: 'sleep 30' } }, { text: '', after_ms: 30_000 })
            .tool(
              { name: 'bash', args: { command: 'gh run view 77' } },
              at === 3 ? 'completed success' : `in_progress ${at + 1}/4 jobs`,
            ),
        )
        .assistant('The build is through.'),
    { tools: ['bash'] },
  ),
  healthy(
    'a log is tailed while it grows',
    (run) =>
      run
        .user('Watch the migration.')
        .times(5, (agent, at) =>
          agent.tool({ name: 'tail_log', args: { file: 'm.log' } }, `batch ${at + 1} of 5 done`),
        )
        .assistant('All five batches are done.'),
    { source: 'otlp', tools: ['tail_log'] },
  ),
  healthy(
    'a queue is emptied message by message',
    (run) =>
      run
        .system('Work through the queue until it is empty.')
        .user('Go.')
        .times(5, (agent, at) =>
          agent.tool({ name: 'next_message' }, `{"id":${at + 100},"text":"order ${at + 100}"}`),
        )
        .tool({ name: 'next_message' }, '{"id":null}')
        .assistant('The queue is empty; there were five orders.'),
    { tools: ['next_message'] },
  ),
  healthy(
    'results are read page by page',
    (run) =>
      run
        .user('List all members.')
        .times(6, (agent, at) =>
          agent.tool(
            { name: 'list_members', args: { page: at + 1 } },
            JSON.stringify([`m${at * 2}`, `m${at * 2 + 1}`]),
          ),
        )
        .assistant('There are twelve members.'),
    { tools: ['list_members'] },
  ),
  healthy(
    'a cursor leads through an index',
    (run) =>
      run
        .user('Wie viele Dokumente sind im Index?')
        .times(5, (agent, at) =>
          agent.tool(
            { name: 'scroll', args: { cursor: `c${at}`, size: 100 } },
            `{"hits":100,"next":"c${at + 1}"}`,
          ),
        )
        .tool({ name: 'scroll', args: { cursor: 'c5', size: 100 } }, '{"hits":31,"next":null}')
        .assistant('531 Dokumente.'),
    { source: 'otlp_openinference' },
  ),
  healthy(
    'a page is scrolled down',
    (run) =>
      run
        .user('Find the imprint on example.org.')
        .tool({ name: 'browser_open', args: { url: 'https://example.org' } }, 'Header, News')
        .times(4, (agent, at) =>
          agent.tool(
            { name: 'browser_scroll', args: { down: 600 } },
            ['Team, Photos', 'Products', 'Partners', 'Imprint, Contact'][at] ?? '',
          ),
        )
        .tool({ name: 'browser_click', args: { text: 'Imprint' } }, 'Example Ltd., 1 High Street')
        .assistant('Example Ltd., 1 High Street.'),
    { tools: ['browser_open', 'browser_scroll', 'browser_click'] },
  ),
  healthy('too many requests, then an answer', (run) =>
    run.user('Hi').assistant({ error: rateLimit }).wait(1_000).assistant('Hello! How can I help?'),
  ),
  healthy(
    'three limits in a row with growing waits, then through',
    (run) =>
      run
        .user('Summarise: tea is a drink.')
        .times(3, (agent, at) => agent.assistant({ error: rateLimit }).wait(1_000 * 2 ** at))
        .assistant('Tea is a drink.'),
    { streamed: true },
  ),
  healthy(
    'an overloaded model is asked again in the middle of a task',
    (run) =>
      run
        .user('Add 3 and 4 and write it down.')
        .tool({ name: 'add', args: { a: 3, b: 4 } }, '7')
        .assistant({ error: overloaded })
        .wait(2_000)
        .tool({ name: 'note', args: { text: '7' } }, 'noted')
        .assistant('7 is noted.'),
    { provider: 'anthropic', model: 'claude-3-5-sonnet-20241022', tools: ['add', 'note'] },
  ),
  healthy(
    'a server error is retried, told by spans',
    (run) =>
      run
        .user('Hola')
        .assistant({ error: { status: 502, type: 'bad_gateway', message: 'Bad gateway' } })
        .assistant('¡Hola!'),
    { source: 'otlp' },
  ),
  healthy(
    'a server error is retried, told without content',
    (run) =>
      run
        .user('Hola')
        .assistant({ error: { status: 500, type: 'server_error', message: 'x' } })
        .assistant('¡Hola!'),
    { source: 'otlp_no_content' },
  ),
  healthy('a time-out, then an answer', (run) =>
    run
      .user('Prove it.')
      .assistant({
        error: { status: 504, type: 'provider_timeout', message: 'no answer', outcome: 'timeout' },
        call_ms: 60_000,
      })
      .assistant('By induction on n.'),
  ),
  healthy(
    'a tool is away for a moment',
    (run) =>
      run
        .user('What is the euro in yen?')
        .tool({ name: 'fx', args: { pair: 'EURJPY' } }, 'HTTP 503 Service Unavailable')
        .wait(1_500)
        .tool({ name: 'fx', args: { pair: 'EURJPY' } }, '{"rate":163.2}')
        .assistant('One euro is 163.2 yen.'),
    { tools: ['fx'] },
  ),
  healthy(
    'a search is limited twice and then answers',
    (run) =>
      run
        .user('Who won the 2019 final?')
        .tool(
          { name: 'web_search', args: { q: '2019 final winner' } },
          '{"error":429,"message":"Too Many Requests"}',
        )
        .wait(2_000)
        .tool(
          { name: 'web_search', args: { q: '2019 final winner' } },
          '{"error":429,"message":"Too Many Requests"}',
        )
        .wait(8_000)
        .tool({ name: 'web_search', args: { q: '2019 final winner' } }, 'Liverpool won 2–0')
        .assistant('Liverpool won the final.'),
    { tools: ['web_search'], streamed: true },
  ),
  healthy(
    'a lock is waited for',
    (run) =>
      run
        .user('Install jq.')
        .tool(
          { name: 'bash', args: { command: 'apt-get install -y jq' } },
          'E: Could not get lock /var/lib/dpkg/lock-frontend\n[exit code: 100]',
        )
        .wait(15_000)
        .tool(
          { name: 'bash', args: { command: 'apt-get install -y jq' } },
          'Setting up jq (1.7)\n[exit code: 0]',
        )
        .assistant('jq is installed.'),
    { tools: ['bash'] },
  ),
  healthy(
    'a human approves after a long wait',
    (run) =>
      run
        .user('Order new chairs.')
        .tool({ name: 'request_approval', args: { what: 'chairs' } }, '{"id":"ap-3"}')
        .times(3, (agent) =>
          agent.tool(
            { name: 'wait_for_approval', args: { id: 'ap-3' } },
            { text: 'pending', after_ms: 60_000 },
          ),
        )
        .tool(
          { name: 'wait_for_approval', args: { id: 'ap-3' } },
          { text: 'approved by Eva', after_ms: 20_000 },
        )
        .tool({ name: 'order', args: { item: 'chairs', n: 6 } }, '{"order":"o-44"}')
        .assistant('Eva approved, and six chairs are ordered.'),
    { tools: ['request_approval', 'wait_for_approval', 'order'] },
  ),
]
