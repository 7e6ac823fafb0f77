-- Capabilities that documents may require (`needs`): one name per kind of access restriction.
return {
    acl = true, antiHeader = true, antiReferer = true, botFields = true, firewall = true, firewallLevel = true,
    ipset = true, luaAcl = true, proxyProtocol = true, restrictedNetworks = true, siteFirewall = true, tokenAuth = true,
    visitorAddress = true, waf = true,
}
