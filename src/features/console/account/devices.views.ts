import { device } from '../../../platform/pages/components/devices.ts'
import { time } from '../../../platform/pages/components/times.ts'
import { html } from '../../../platform/pages/html.ts'
import type { Device } from '../console.service.ts'

export function devicesCard(devices: readonly Device[]) {
  return html`<section class="card" aria-labelledby="devices">
<div class="row">
<h2 id="devices">Devices signed in</h2>
<form class="end" method="post" action="/console/account/sign-out-everywhere" data-confirm="Sign out on every device, this one too?" data-confirm-button="Sign out everywhere"><button class="bad">Sign out everywhere</button></form>
</div>
<table class="stack devices">
<thead><tr><th scope="col">Device</th><th scope="col">Address</th><th scope="col">Signed in</th><th scope="col">Last used</th><th scope="col">Action</th></tr></thead>
<tbody>
${devices.map(row)}
</tbody>
</table>
</section>`
}

function row({ id, user_agent, address, created_at, last_used_at, current }: Device) {
  return html`<tr>
<td data-label="Device"><span id="device-${id}">${device(user_agent)}${current && html` <span class="badge good">This device</span>`}</span></td>
<td data-label="Address" class="address">${address}</td>
<td data-label="Signed in">${time(created_at)}</td>
<td data-label="Last used">${time(last_used_at)}</td>
<td class="action"><form method="post" action="/console/account/devices/${id}/sign-out"><button class="small" aria-describedby="device-${id}">Sign out</button></form></td>
</tr>
`
}
