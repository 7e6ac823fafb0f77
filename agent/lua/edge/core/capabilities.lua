-- Capabilities that documents may require (`needs`): one name per kind of access restriction.
return { antiHeader = true, antiReferer = true, firewall = true, firewallLevel = true, ipset = true, tokenAuth = true }
