import type { AgentRun } from './agent-run.ts'
import { context, failure, healthy, ill, type LabelledRun, loop } from './labelled-run.ts'

const files = ['rates.ts', 'zones.ts', 'labels.ts', 'stamps.ts', 'weights.ts']

/** Reads files of a postage program; each has a text of its own. */
function readFiles(run: AgentRun, names: readonly string[]): AgentRun {
  for (const name of names) {
    run = run.tool(
      { name: 'read_file', args: { path: `src/${name}` } },
      `export const ${name.slice(0, -3)} = [12, 40, 95] // of ${name}`,
    )
  }
  return run
}

const helper = { tools: ['read_file', 'delegate', 'edit_file'] }
const xml =
  'You work in a repository. Tools by XML tags, one per message: run_command, write_file, complete_task. The result arrives in the next message.'

/** Summaries that lose or hide something, and sub-agents that begin from nothing, with their twins. */
export const summaryRuns: readonly LabelledRun[] = [
  ill(
    'a sub-agent reads all the files that its parent has read',
    [failure('repeated_work')],
    (run) =>
      readFiles(run.system('You lead.').user('Explain how postage is computed.'), files)
        .assistant({ calls: [{ name: 'delegate', args: { to: 'writer' } }] })
        .parallel((writer) =>
          readFiles(
            writer.system('You write.').user('Write a page on how postage is computed.').mark(),
            files,
          ).assistant('Postage is the rate of a zone times the class of weight.'),
        )
        .results(['The page is written.'])
        .assistant('The page explains it: a rate for each zone and class of weight.'),
    helper,
  ),
  ill(
    'a sub-agent searches again what its parent had found',
    [failure('repeated_work')],
    (run) => {
      const queries = ['ferry to Unst', 'ferry to Yell', 'ferry to Fetlar', 'bus in Lerwick']
      const search = (agent: AgentRun) =>
        queries.reduce(
          (all, q) =>
            all.tool(
              { name: 'web_search', args: { q } },
              `3 results for ${q}: timetable, fares, news`,
            ),
          agent,
        )
      return search(run.system('You plan.').user('Plan three days in the north of Shetland.'))
        .assistant({ calls: [{ name: 'delegate', args: { to: 'booker' } }] })
        .parallel((booker) =>
          search(
            booker.system('You book.').user('Find the ferries for the trip.').mark(),
          ).assistant('All three ferries run daily.'),
        )
        .results(['All three ferries run daily.'])
        .assistant('Day one Yell, day two Unst, day three Fetlar.')
    },
    { tools: ['web_search', 'delegate'] },
  ),
  healthy(
    'a sub-agent is told to check the work and reads the files again',
    (run) =>
      readFiles(run.system('You lead.').user('Explain how postage is computed.'), files)
        .assistant({ calls: [{ name: 'delegate', args: { to: 'reviewer' } }] })
        .parallel((reviewer) =>
          readFiles(
            reviewer.system('You review.').user('Verify the explanation against the files.'),
            files,
          ).assistant('The explanation is right.'),
        )
        .results(['The explanation is right.'])
        .assistant('Postage is the rate of a zone times the class of weight.'),
    helper,
  ),
  healthy(
    'a sub-agent reads two known files and four new ones',
    (run) =>
      readFiles(run.system('You lead.').user('Explain how postage is computed.'), files.slice(0, 3))
        .assistant({ calls: [{ name: 'delegate', args: { to: 'writer' } }] })
        .parallel((writer) =>
          readFiles(writer.system('You write.').user('Write a page on the insurance of parcels.'), [
            ...files.slice(0, 2),
            ...['insurance.ts', 'claims.ts', 'limits.ts', 'fees.ts'],
          ]).assistant('Parcels are insured up to a limit.'),
        )
        .results(['The page is written.'])
        .assistant('The page is there.'),
    helper,
  ),
  ill(
    'a summary leaves out that no names may be used',
    [context('constraint_dropped')],
    (run) =>
      run
        .system('You write minutes.')
        .user(
          'Never use the word “deadline” in the minutes. First item: the garden gate is broken.',
        )
        .assistant('Item 1. The garden gate is broken; a locksmith is asked for an offer.')
        .user('Second item: the bench needs paint.')
        .assistant('Item 2. The bench is painted in spring.')
        .compact('Summary of the conversation so far: minutes with two items, gate and bench.')
        .user('Third item: the well.')
        .mark()
        .assistant('Item 3. The well is covered until it has been tested.'),
    { may: ['context_truncated'] },
  ),
  ill(
    'a summary leaves out the language',
    [context('constraint_dropped')],
    (run) =>
      run
        .user('Please always answer in Spanish. What is a lighthouse?')
        .assistant('Un faro es una torre con una luz que guía a los barcos.')
        .user('Who keeps it?')
        .assistant('Lo cuida un farero, aunque hoy casi todos son automáticos.')
        .compact(
          'Summary of the conversation so far: lighthouses and their keepers were explained.',
        )
        .user('¿Y qué es una boya?')
        .mark()
        .assistant('Una boya es una señal que flota y marca el camino.'),
    { may: ['context_truncated'] },
  ),
  healthy('a summary keeps the rule in other words', (run) =>
    run
      .user('Please always answer in Spanish. What is a lighthouse?')
      .assistant('Un faro es una torre con una luz que guía a los barcos.')
      .user('Who keeps it?')
      .assistant('Lo cuida un farero, aunque hoy casi todos son automáticos.')
      .compact(
        'Summary of the conversation so far: lighthouses were explained. The user wants Spanish.',
      )
      .user('And what is a buoy?')
      .assistant('Una boya es una señal que flota y marca el camino.'),
  ),
  healthy('a summary leaves out a rule that the system still has', (run) =>
    run
      .system('You write minutes. Never use the word “deadline”.')
      .user('First item: the garden gate is broken.')
      .assistant('Item 1. The garden gate is broken; a locksmith is asked for an offer.')
      .user('Second item: the bench needs paint.')
      .assistant('Item 2. The bench is painted in spring.')
      .compact('Summary of the conversation so far: minutes with two items, gate and bench.')
      .user('Third item: the well.')
      .assistant('Item 3. The well is covered until it has been tested.'),
  ),
  ill(
    'a migration that failed is reported as run, by a tag',
    [failure('hidden_tool_error')],
    (run) =>
      run
        .system(xml)
        .user('Add a column `height` to the table towers and run the migration.')
        .assistant(
          '<write_file><path>migrations/7.sql</path><content>alter table towers add height int</content></write_file>',
        )
        .user('Saved.')
        .assistant('<run_command><command>./migrate up</command></run_command>')
        .user('migrations/7.sql: FAILED, permission denied for table towers')
        .mark()
        .assistant(
          '<complete_task><result>The migration migrations/7.sql has run and the column height exists.</result></complete_task>',
        ),
  ),
  ill('a backup that failed is said to be there', [failure('hidden_tool_error')], (run) =>
    run
      .system('Ops agent. ```bash blocks are executed, the output follows.')
      .user('Back up /srv/maps to /backup/maps.tgz, then empty /srv/maps/tmp.')
      .assistant('```bash\ntar czf /backup/maps.tgz /srv/maps\n```')
      .user('tar: /backup/maps.tgz: Cannot write: No space left on device')
      .assistant('```bash\nrm -r /srv/maps/tmp\n```')
      .user('(no output)')
      .mark()
      .assistant('All of /srv/maps is now in /backup/maps.tgz, and the temporary files are gone.'),
  ),
  healthy('a backup failed and the answer says so', (run) =>
    run
      .system('Ops agent. ```bash blocks are executed, the output follows.')
      .user('Back up /srv/maps to /backup/maps.tgz.')
      .assistant('```bash\ntar czf /backup/maps.tgz /srv/maps\n```')
      .user('tar: /backup/maps.tgz: Cannot write: No space left on device')
      .assistant('There is no backup: /backup is full, so /backup/maps.tgz could not be written.'),
  ),
  healthy('a backup failed and a second one was written', (run) =>
    run
      .system('Ops agent. ```bash blocks are executed, the output follows.')
      .user('Back up /srv/maps to /backup/maps.tgz.')
      .assistant('```bash\ntar czf /backup/maps.tgz /srv/maps\n```')
      .user('tar: /backup/maps.tgz: Cannot write: No space left on device')
      .assistant(
        '```bash\nrm /backup/old.tgz && tar czf /backup/maps.tgz /srv/maps && ls -l /backup/maps.tgz\n```',
      )
      .user('-rw-r--r-- 1 root root 90112 /backup/maps.tgz')
      .assistant('All of /srv/maps is now in /backup/maps.tgz (88 KB).'),
  ),
  ill(
    'a sub-agent asks the same questions of the database again',
    [failure('repeated_work')],
    (run) => {
      const queries = ['bridges', 'locks', 'weirs', 'mills']
      const count = (agent: AgentRun) =>
        queries.reduce(
          (all, table, at) =>
            all.tool(
              { name: 'query', args: { sql: `SELECT count(*) FROM ${table}` } },
              `count: ${40 + at} rows in table ${table}`,
            ),
          agent,
        )
      return count(run.system('You lead.').user('How many buildings are on the river?'))
        .assistant({ calls: [{ name: 'delegate', args: { to: 'writer' } }] })
        .parallel((writer) =>
          count(
            writer
              .system('You write.')
              .user('Write a sentence on the buildings of the river.')
              .mark(),
          ).assistant('There are 166 buildings.'),
        )
        .results(['There are 166 buildings.'])
        .assistant('There are 166 buildings on the river.')
    },
    { tools: ['query', 'delegate'] },
  ),
  ill(
    'a summary leaves out that answers have bullets',
    [context('constraint_dropped')],
    (run) =>
      run
        .user('Always answer as a bullet list. What grows in shade?')
        .assistant('- ferns\n- hostas\n- moss')
        .user('And in sand?')
        .assistant('- thyme\n- lavender')
        .compact('Summary of the conversation so far: plants for shade and for sand were named.')
        .user('And at the sea?')
        .mark()
        .assistant('- sea holly\n- thrift'),
    { may: ['context_truncated'] },
  ),
  ill(
    'a declined payment is paid, says the tool that ends the task',
    [failure('hidden_tool_error')],
    (run) =>
      run
        .system('Web agent. Actions: click [id], type [id] [text], stop [answer].')
        .user('Pay notice PN-88.')
        .assistant('click [4]')
        .user('Notice PN-88, 20.00 due. [8] button Pay')
        .assistant('click [8]')
        .user('Payment declined by the bank. Notice PN-88 is unpaid. [8] button Again')
        .mark()
        .assistant('stop [Notice PN-88 has been paid]'),
  ),
  ill('an agent of labels searches the same page four times', [loop('repeat_call')], (run) =>
    run
      .system('Thought, Action, Observation. Tools: search[query], finish[answer].')
      .user('When was the weir at Orme built?')
      .mark()
      .times(4, (agent) =>
        agent
          .assistant('Thought: look for the weir.\nAction: search[weir at Orme]')
          .user('Observation: Orme has a weir and a mill.'),
      )
      .assistant('Thought: nothing.\nAction: finish[not known]'),
  ),
  healthy('a tutor shows commands and never runs them', (run) =>
    run
      .system('You are a shell tutor. Put commands into ```bash blocks.')
      .user('How do I list files?')
      .assistant('```bash\nls -l\n```')
      .user('And with hidden ones?')
      .assistant('```bash\nls -la\n```')
      .user('List them again please?')
      .assistant('```bash\nls -la\n```'),
  ),
]
