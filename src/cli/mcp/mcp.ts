import { type Ask, serveStdio, ToolFault } from '../../capabilities/mcp/index.ts'
import { version } from '../../platform/config/index.ts'
import { askApi, readerSettings } from '../ask-api.ts'
import { type Arguments, type CommandIo, exitStatus, NoAnswer, UsageError } from '../command.ts'

/** Serves the tools over standard input and output, by the API and the credentials of the command line. */
export async function mcp(_args: Arguments, { stop }: CommandIo): Promise<number> {
  const { url, ...credentials } = readerSettings()
  const ask: Ask = async ({ path, body }) => {
    try {
      return { status: 200, body: await askApi(new URL(path, url), { ...credentials, body, stop }) }
    } catch (error) {
      if (error instanceof UsageError || error instanceof NoAnswer) {
        throw new ToolFault(error.message, { cause: error })
      }
      throw error
    }
  }
  await serveStdio(ask, { version, stop })
  return exitStatus.ok
}
