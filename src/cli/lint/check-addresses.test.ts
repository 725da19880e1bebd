import { expect, test } from 'vitest'
import { kinds } from '../../operator/index.ts'
import { lintResources } from './lint.ts'

const channel = (section: string) =>
  `apiVersion: looptrace.dev/v1alpha1\nkind: NotificationChannel\nmetadata: {name: a}\nspec:\n  projectRef: {id: 01900000-0000-7000-8000-000000000001}\n  ${section}\n`

function findingsIn(section: string) {
  const { findings } = lintResources(kinds, [{ name: 'a.yaml', text: channel(section) }])
  return findings.map(({ level, path, message }) => `${level} ${path}: ${message}`)
}

test.each([
  ['webhook: {url: "http://10.0.0.1/path-token"}', 'webhook', '10.0.0.1'],
  ['alertmanager: {url: "http://localhost:9093"}', 'alertmanager', 'localhost:9093'],
  ['alertmanager: {url: "http://[::1]"}', 'alertmanager', '[::1]'],
])('%s gets a warning, because the service may refuse it', (section, type, host) => {
  const findings = findingsIn(section)
  expect(findings).toEqual([expect.stringContaining(`warning spec.${type}.url: ${host} port `)])
  expect(findings.join()).not.toContain('path-token')
})

test.each([
  ['"https://u:p@hooks.example.com/x"', 'hooks.example.com is named with a user or password'],
  ['"https://hooks.example.com:99999/x"', 'the URL is not an absolute http or https URL'],
  ['"https://[zz]/x"', 'the URL is not an absolute http or https URL'],
  ['"https://hooks.example.com/\\0x"', 'the URL is not an absolute http or https URL'],
])('the URL %s is an error, because no setting of the service allows it', (url, message) => {
  for (const type of ['webhook', 'alertmanager']) {
    const findings = findingsIn(`${type}: {url: ${url}}`)
    expect(findings).toEqual([expect.stringContaining(`error spec.${type}.url: ${message}`)])
    expect(findings.join()).not.toContain('u:p')
  }
})

test.each([
  'webhook: {url: "https://hooks.example.com/x"}',
  'alertmanager: {url: "http://alertmanager.monitoring:9093"}',
  'webhook: {url: "https://8.8.8.8/x"}',
])('%s gets none', (section) => {
  expect(findingsIn(section)).toEqual([])
})
