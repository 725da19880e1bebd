import { startScriptedProvider } from '../../src/capabilities/demo/index.ts'

const provider = await startScriptedProvider({
  ...JSON.parse(process.argv[2] ?? '{}'),
  control: true,
})
const { url, base_urls } = provider
process.stdout.write(`${JSON.stringify({ url, base_urls })}\n`)

const stop = async () => {
  process.stdin.destroy()
  await provider.stop()
}
process.once('SIGTERM', stop)
process.stdin.resume().once('end', stop)
