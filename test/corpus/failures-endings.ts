import { failure, ill, type LabelledRun, loop } from './labelled-run.ts'

/** Runs that end before their work does, or never want to end. */
export const endingRuns: readonly LabelledRun[] = [
  ill(
    'the tests will be run, says the last message',
    [failure('premature_stop')],
    (run) =>
      run
        .system('You are a coding agent. Work until all is done.')
        .user('Fix the off-by-one in paging.js and run the tests.')
        .tool({ name: 'read_file', args: { path: 'paging.js' } }, 'i <= n')
        .tool({ name: 'edit_file', args: { path: 'paging.js', from: 'i <= n', to: 'i < n' } }, 'ok')
        .mark()
        .assistant('I have changed the loop. Now I will run the tests.'),
    { tools: ['read_file', 'edit_file', 'run_tests'] },
  ),
  ill(
    'a search is announced and does not come',
    [failure('premature_stop')],
    (run) =>
      run
        .system('You are a travel agent with tools.')
        .user('Find me a flight to Oslo on Friday and book it.')
        .mark()
        .assistant('Let me search for flights to Oslo on Friday.'),
    { tools: ['search_flights', 'book_flight'] },
  ),
  ill(
    'two of five files, and an end',
    [failure('premature_stop')],
    (run) =>
      run
        .user('Add the licence header to a.c, b.c, c.c, d.c and e.c.')
        .tool({ name: 'add_header', args: { file: 'a.c' } }, 'added')
        .tool({ name: 'add_header', args: { file: 'b.c' } }, 'added')
        .mark()
        .assistant('Next, I will add the header to c.c.'),
    { source: 'otlp', tools: ['add_header'] },
  ),
  ill(
    'an analysis that ends with its first step',
    [failure('premature_stop')],
    (run) =>
      run
        .system('You analyse logs with the tools at hand.')
        .user('Why did the nightly job fail?')
        .tool({ name: 'list_logs' }, 'nightly-1.log nightly-2.log')
        .mark()
        .assistant("I'll start by reading nightly-2.log to see where it failed:"),
    { tools: ['list_logs', 'read_log'], streamed: true },
  ),
]

const pages = (name: string, from: string, steps: number, tool: string) =>
  ill(
    name,
    [loop('budget', 'none')],
    (run) =>
      run
        .system('You work through long lists.')
        .user(from)
        .times(steps, (agent, at) =>
          agent.tool(
            { name: tool, args: { id: at * 37 + 11 } },
            `{"id":${at * 37 + 11},"name":"entry ${(at * 7919) % 1009}"}`,
          ),
        )
        .assistant('That was the last of them.'),
    { tools: [tool], may: ['budget_exceeded'], call_ms: 300, tool_ms: 50 },
  )

/** More steps than anybody planned for. */
export const budgetRuns: readonly LabelledRun[] = [
  pages(
    'every product of a shop is opened',
    'Check all products for a missing picture.',
    210,
    'open_product',
  ),
  pages('every row of a register is read', 'Prüfe jede Zeile des Registers.', 230, 'read_row'),
  pages('every mail of a year is looked at', 'Find the mail about the blue car.', 260, 'get_mail'),
  pages('every street of a town is visited', 'Count the trees of all streets.', 220, 'count_trees'),
  pages('every page of a wiki is fetched', 'Which page is the oldest?', 205, 'fetch_page'),
]
