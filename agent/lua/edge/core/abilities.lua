-- What documents may insist on (`needs`) and this edge can do: one name for whatever keeps visitors out.
return { antiHeader = true, antiReferer = true, firewall = true, firewallLevel = true, ipset = true, tokenAuth = true }
