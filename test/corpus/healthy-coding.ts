import { healthy, type LabelledRun } from './labelled-run.ts'

const system = 'You are a coding agent with a shell and an editor.'
const red = (names: string) => `${names}\n1 failed, 8 passed\n[exit code: 1]`
const green = '9 passed\n[exit code: 0]'

/** Normal programming with failing tests, many edits and many reads. */
export const codingRuns: readonly LabelledRun[] = [
  healthy(
    'tests run again after each edit until they are green',
    (run) =>
      run
        .system(system)
        .user('Make the tests pass.')
        .tool({ name: 'bash', args: { cmd: 'pytest -q' } }, red('test_a'))
        .tool({ name: 'edit', args: { file: 'a.py', old: '1', new: '2' } }, 'edited')
        .tool({ name: 'bash', args: { cmd: 'pytest -q' } }, red('test_a'))
        .tool({ name: 'edit', args: { file: 'a.py', old: '2', new: '3' } }, 'edited')
        .tool({ name: 'bash', args: { cmd: 'pytest -q' } }, red('test_a'))
        .tool({ name: 'edit', args: { file: 'b.py', old: 'x', new: 'y' } }, 'edited')
        .tool({ name: 'bash', args: { cmd: 'pytest -q' } }, green)
        .assistant('All tests pass now.'),
    { tools: ['bash', 'edit'] },
  ),
  healthy(
    'one file is edited a dozen times',
    (run) =>
      run
        .system(system)
        .user('Translate the strings of ui.ts to German.')
        .times(12, (agent, at) =>
          agent.tool(
            { name: 'str_replace', args: { path: 'ui.ts', old: `text${at}`, new: `Text ${at}` } },
            'The file ui.ts has been edited.',
          ),
        )
        .assistant('All twelve strings are German.'),
    { tools: ['str_replace'] },
  ),
  healthy(
    'a file is read between edits of it',
    (run) =>
      run
        .user('Tidy up main.c step by step.')
        .times(4, (agent, at) =>
          agent
            .tool({ name: 'Read', args: { path: 'main.c' } }, `int main() { return ${at}; }`)
            .tool({ name: 'Edit', args: { path: 'main.c', line: at } }, 'ok'),
        )
        .assistant('main.c is tidy.'),
    { source: 'otlp', tools: ['Read', 'Edit'] },
  ),
  healthy(
    'searches that look alike and find other things',
    (run) => {
      const words = ['getUser', 'getUsers', 'getUserById', 'getUserName', 'setUser', 'getUserRole']
      run.system(system).user('Where are users read?')
      return run
        .times(6, (agent, at) =>
          agent.tool(
            { name: 'grep', args: { pattern: words[at], path: 'src' } },
            `src/user-${at}.ts:${at + 3}: ${words[at]}(`,
          ),
        )
        .assistant('In six files, src/user-0.ts to src/user-5.ts.')
    },
    { tools: ['grep'] },
  ),
  healthy(
    'searches that all find nothing, each for another word',
    (run) => {
      const words = ['kafka', 'rabbitmq', 'nats', 'sqs', 'pubsub']
      run.user('Which message queue do we use?')
      return run
        .times(5, (agent, at) =>
          agent.tool({ name: 'grep', args: { pattern: words[at] } }, 'No matches found'),
        )
        .tool({ name: 'grep', args: { pattern: 'redis' } }, 'src/queue.ts:1: import redis')
        .assistant('Redis, see src/queue.ts.')
    },
    { tools: ['grep'] },
  ),
  healthy(
    'a big file is read in parts',
    (run) =>
      run
        .user('What does parser.rs do?')
        .times(5, (agent, at) =>
          agent.tool(
            { name: 'read_file', args: { path: 'parser.rs', offset: at * 200, limit: 200 } },
            `fn part_${at}() -> Token { todo_${at} }`,
          ),
        )
        .assistant('It turns text into tokens in five stages.'),
    { streamed: true, tools: ['read_file'] },
  ),
  healthy(
    'a wrong path, then the right one',
    (run) =>
      run
        .system(system)
        .user('Show me the config.')
        .tool(
          { name: 'cat', args: { path: 'config.yml' } },
          'cat: config.yml: No such file or directory',
        )
        .tool({ name: 'ls', args: { path: '.' } }, 'config.yaml src')
        .tool({ name: 'cat', args: { path: 'config.yaml' } }, 'port: 80')
        .assistant('The port is 80.'),
    { tools: ['cat', 'ls'] },
  ),
  healthy(
    'four compiler errors, each another, and then it builds',
    (run) => {
      const errors = ['missing semicolon', 'unknown type Foo', 'mismatched types', 'unused import']
      run.system(system).user('Port it to the new API.')
      for (const [at, error] of errors.entries()) {
        run.tool(
          { name: 'bash', args: { cmd: 'cargo build' } },
          `error[E${at}]: ${error}\n[exit code: 101]`,
        )
        run.tool({ name: 'edit', args: { file: 'lib.rs', at } }, 'edited')
      }
      return run
        .tool({ name: 'bash', args: { cmd: 'cargo build' } }, 'Finished in 2.1s\n[exit code: 0]')
        .assistant('It builds.')
    },
    { tools: ['bash', 'edit'] },
  ),
  healthy(
    'a search without a hit ends with exit code 1',
    (run) =>
      run
        .system(system)
        .user('Is eval used anywhere?')
        .tool({ name: 'bash', args: { cmd: 'grep -rn eval src' } }, '[exit code: 1]')
        .tool({ name: 'bash', args: { cmd: 'grep -rn "new Function" src' } }, '[exit code: 1]')
        .assistant('No, neither eval nor new Function is used.'),
    { tools: ['bash'] },
  ),
  healthy(
    'a diff is looked at before and after',
    (run) =>
      run
        .user('Commit what I changed and then fix the typo.')
        .tool({ name: 'git_diff' }, '+ helo')
        .tool({ name: 'git_commit', args: { message: 'greeting' } }, '[main 1a2b3c4] greeting')
        .tool({ name: 'git_diff' }, '')
        .tool({ name: 'edit', args: { old: 'helo', new: 'hello' } }, 'edited')
        .tool({ name: 'git_diff' }, '- helo\n+ hello')
        .tool({ name: 'git_commit', args: { message: 'typo' } }, '[main 5d6e7f8] typo')
        .assistant('Both commits are made.'),
    { tools: ['git_diff', 'git_commit', 'edit'] },
  ),
  healthy(
    'five files are read at the same time',
    (run) => {
      const names = ['a', 'b', 'c', 'd', 'e']
      return run
        .user('Compare the five configs.')
        .assistant({
          calls: names.map((name) => ({ name: 'read', args: { path: `${name}.yaml` } })),
        })
        .results(names.map((name) => `port: 80\nname: ${name}`))
        .assistant('They differ in their names only.')
    },
    { tools: ['read'] },
  ),
  healthy(
    'three equal calls side by side, as a vote',
    (run) =>
      run
        .user('Roll three dice.')
        .assistant({ calls: [{ name: 'roll' }, { name: 'roll' }, { name: 'roll' }] })
        .results(['4', '4', '1'])
        .assistant('You rolled 4, 4 and 1.'),
    { tools: ['roll'] },
  ),
  healthy(
    'a test that shakes is run three times',
    (run) =>
      run
        .user('Is test_net flaky?')
        .tool({ name: 'run_test', args: { name: 'test_net' } }, 'passed in 0.8s')
        .tool({ name: 'run_test', args: { name: 'test_net' } }, 'failed: connection refused')
        .tool({ name: 'run_test', args: { name: 'test_net' } }, 'passed in 0.9s')
        .assistant('Yes: it failed once in three runs.'),
    { tools: ['run_test'], may: ['tool_outage'] },
  ),
  healthy(
    'the same header goes into many files',
    (run) =>
      run
        .user('Add the licence header everywhere.')
        .times(8, (agent, at) =>
          agent.tool({ name: 'add_header', args: { file: `src/file-${at}.go` } }, 'header added'),
        )
        .assistant('Eight files have the header now.'),
    { tools: ['add_header'], source: 'otlp_openinference' },
  ),
  healthy(
    'a linter is run, fixed and run on each package',
    (run) => {
      run.system(system).user('Lint all packages.')
      for (const name of ['api', 'web', 'cli', 'docs']) {
        run.tool({ name: 'lint', args: { pkg: name } }, `${name}: 2 problems`)
        run.tool({ name: 'lint_fix', args: { pkg: name } }, `${name}: fixed 2`)
        run.tool({ name: 'lint', args: { pkg: name } }, `${name}: no problems`)
      }
      return run.assistant('All four packages are clean.')
    },
    { tools: ['lint', 'lint_fix'] },
  ),
  healthy(
    'the bug was there before, says the agent, and it is so',
    (run) =>
      run
        .system(system)
        .user('Why does the build fail? Only tell me.')
        .tool(
          { name: 'bash', args: { cmd: 'make' } },
          'make: *** [all] Error 2\nundefined reference to `foo`\n[exit code: 2]',
        )
        .assistant(
          'The build fails because foo is declared but never defined: link foo.o in the Makefile.',
        ),
    { tools: ['bash'] },
  ),
  healthy(
    'a long session with a todo list',
    (run) => {
      run.system(system).user('Do the four steps of the plan.')
      for (let at = 0; at < 4; at++) {
        run.tool(
          { name: 'todo_write', args: { done: at } },
          'Todos have been modified successfully',
        )
        run.tool({ name: 'bash', args: { cmd: `./step-${at}.sh` } }, `step ${at} ok`)
      }
      return run
        .tool({ name: 'todo_write', args: { done: 4 } }, 'Todos have been modified successfully')
        .assistant('All four steps are done.')
    },
    { tools: ['todo_write', 'bash'] },
  ),
  healthy(
    'a bisect walks through commits with one command',
    (run) => {
      const marks = ['bad', 'good', 'bad', 'good', 'bad']
      run.user('Which commit broke it?')
      for (const [at, mark] of marks.entries()) {
        run.tool({ name: 'bash', args: { cmd: './check.sh' } }, mark === 'bad' ? 'FAIL' : 'PASS')
        run.tool(
          { name: 'bash', args: { cmd: `git bisect ${mark}` } },
          at === 4 ? '9f1c is the first bad commit' : `Bisecting: ${16 >> at} revisions left`,
        )
      }
      return run.assistant('Commit 9f1c broke it.')
    },
    { tools: ['bash'] },
  ),
  healthy('two agents read the same file, each for itself', (run) =>
    run
      .user('Review auth.ts for security and for style.')
      .assistant({
        calls: [
          { name: 'agent', args: { for: 'security' } },
          { name: 'agent', args: { for: 'style' } },
        ],
      })
      .parallel(
        (one) =>
          one
            .system('Security.')
            .user('Review auth.ts')
            .tool({ name: 'read', args: { p: 'auth.ts' } }, 'x')
            .tool({ name: 'read', args: { p: 'key.ts' } }, 'k')
            .assistant('No problems.'),
        (two) =>
          two
            .system('Style.')
            .user('Review auth.ts')
            .tool({ name: 'read', args: { p: 'auth.ts' } }, 'x')
            .tool({ name: 'read', args: { p: 'key.ts' } }, 'k')
            .assistant('Two long lines.'),
        (three) =>
          three
            .system('Tests.')
            .user('Review auth.ts')
            .tool({ name: 'read', args: { p: 'auth.ts' } }, 'x')
            .tool({ name: 'read', args: { p: 'key.ts' } }, 'k')
            .assistant('No tests.'),
      )
      .results(['No problems.', 'Two long lines.'])
      .assistant('Security is fine; two lines are too long.'),
  ),
]
